import { type EngineChoice, listEngines } from '#core/container/connect.ts';
import { type CliContext, parseCommand, UsageError } from './context.ts';

/** `e2e-swe engines [--json]` */
export async function enginesCommand(args: string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  if (positionals.length > 0) throw new UsageError('"engines" takes no arguments.');
  const choices = await listEngines({ env: context.env });
  context.stdout(values.json ? `${JSON.stringify(choices, null, 2)}\n` : choices.map(describe).join(''));
  if (!choices.some(({ inUse, info }) => inUse && info))
    context.stderr('No engine would be used now: start one, or set DOCKER_HOST to one that answers.\n');
  return 0;
}

function describe({ name, address, inUse, info, problem }: EngineChoice): string {
  const facts = info && [
    `${info.product} ${info.version} on ${info.os}/${info.arch}`,
    ...(info.rootless ? ['rootless'] : []),
    ...(info.unenforced.length > 0 ? [`cannot limit ${info.unenforced.join(' and ')}`] : []),
  ];
  const state = facts?.join(', ') ?? problem ?? '';
  return `${inUse ? '* ' : '  '}${name}\n    ${[address, state].filter(Boolean).join('\n    ')}\n`;
}
