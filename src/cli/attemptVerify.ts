import { checkRecord } from '#core/attempt/checkRecord.ts';
import { type AttemptCommandContext, oneId } from './attemptContext.ts';
import { parseCommand } from './context.ts';

/** `e2e-swe attempt verify ID [--json]`: exit code 1 where the record is damaged. */
export async function verifyCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  const check = await checkRecord(context.store.dirOf(oneId(positionals)));
  if (values.json) context.stdout(`${JSON.stringify(check, null, 2)}\n`);
  else {
    const { lines, terminals, faults, notes } = check;
    const row = (kind: string) => (one: { where: string; what: string }) =>
      `${kind}  ${JSON.stringify(one.where).slice(1, -1)}: ${one.what}\n`;
    context.stdout(
      [
        `${lines} lines, ${terminals} terminals: ${faults.length === 0 ? 'whole' : `${faults.length} damaged`}\n`,
        ...faults.map(row('damage')),
        ...notes.map(row('note')),
      ].join(''),
    );
  }
  return check.faults.length > 0 ? 1 : 0;
}
