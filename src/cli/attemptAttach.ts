import type { AttemptBridges } from '#core/attempt/types.ts';
import { type AttemptCommandContext, oneId } from './attemptContext.ts';
import { parseCommand } from './context.ts';

/** `e2e-swe attempt devcontainer ID`; the path of devcontainer.json alone goes to stdout, for scripts. */
export async function devcontainerCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  const id = oneId(positionals);
  const ready = await context.attempts.attachedMode(id, context.signal);
  for (const warning of ready.warnings) context.stderr(`${warning}\n`);
  if (values.json) {
    context.stdout(`${JSON.stringify(ready, null, 2)}\n`);
    return 0;
  }
  const options = `--workspace-folder ${JSON.stringify(ready.folder)} --id-label ${ready.idLabel}`;
  context.stderr(`The attempt ${id} counts as attached from now on: commands in such a window are not recorded.
While a window or command has the attempt open, its container runs, and these work in it:
  devcontainer up ${options}
  devcontainer exec ${options} CMD…
  code --folder-uri ${ready.uri}   (needs Dev Containers; unverified)
Settings for "Dev Containers: Open Named Configuration File":
  ${ready.attachedConfig}
`);
  context.stdout(`${ready.config}\n`);
  return 0;
}

/** `e2e-swe attempt probe ID`: 0 where nothing leads out of the container, else 1. */
export async function probeCommand(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    json: { type: 'boolean' },
    scrub: { type: 'boolean' },
  });
  const options = { scrub: values.scrub ?? false };
  const report = await context.attempts.bridges(oneId(positionals), options, context.signal);
  context.stdout(values.json ? `${JSON.stringify(report, null, 2)}\n` : renderBridges(report));
  return report.bridges.length === 0 && report.isolation.isIsolated ? 0 : 1;
}

/** The names are the container's: nothing of them may steer a terminal. */
function renderBridges({ bridges, notes, scrubbed, isolation }: AttemptBridges): string {
  const lines = (title: string, found: typeof bridges): string[] =>
    found.length === 0
      ? []
      : [title, ...found.map(({ kind, name, meaning }) => `  ${kind} ${quoted(name)}: ${quoted(meaning)}`)];
  const { isIsolated, connection } = isolation;
  return `${[
    `${isIsolated ? 'Offline' : 'NOT offline or apart from this machine'}: a connection attempt: ${quoted(connection)}`,
    ...lines('Removed; an attached editor may make them again:', scrubbed),
    ...lines('Ways out:', bridges),
    ...(bridges.length === 0
      ? ['No way out was found; the container was asked itself, so a builder could hide one.']
      : []),
    ...lines('Worth knowing:', notes),
  ].join('\n')}\n`;
}

function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
