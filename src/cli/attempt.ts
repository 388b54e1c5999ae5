import path from 'node:path';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import { isImportedId } from '#core/attempt/importedAttempts.ts';
import { runRecorded } from '#core/attempt/recordTerminal.ts';
import { unsealGrades } from '#core/attempt/sealedGrades.ts';
import { awaitsStart, isOver } from '#core/attempt/states.ts';
import { connectEngine } from '#core/container/connect.ts';
import { loadTask } from '#core/task/load.ts';
import { devcontainerCommand, probeCommand } from './attemptAttach.ts';
import { clockCommand, disqualifyCommand, noteCommand, pauseCommand, resumeCommand } from './attemptClock.ts';
import { debriefCommand, exampleCommand, protocolIn } from './attemptConditions.ts';
import { type AttemptCommandContext, oneId, requireYes } from './attemptContext.ts';
import { curveCommand } from './attemptCurve.ts';
import { exportCommand } from './attemptExport.ts';
import { gradeAttemptCommand, submitAttemptCommand } from './attemptGrade.ts';
import { importCommand, listImported, readImported, withoutTests } from './attemptImport.ts';
import { orphansCommand } from './attemptOrphans.ts';
import { renderAttempt, renderAttemptRow, renderImported, renderImportedRow } from './attemptRender.ts';
import {
  diffCommand,
  forkCommand,
  resetCommand,
  snapshotCommand,
  snapshotsCommand,
} from './attemptSnapshots.ts';
import { summaryCommand } from './attemptSummary.ts';
import { verifyCommand } from './attemptVerify.ts';
import { viewCommand } from './attemptView.ts';
import { type CliContext, parseCommand, stderrLog, storeFolder, taskFolder, UsageError } from './context.ts';

const commands: Readonly<
  Record<string, (args: string[], context: AttemptCommandContext) => Promise<number>>
> = {
  start,
  list,
  show,
  exec,
  grade: gradeAttemptCommand,
  'try-setup': trySetup,
  submit: submitAttemptCommand,
  'give-up': giveUp,
  snapshots: snapshotsCommand,
  snapshot: snapshotCommand,
  view: viewCommand,
  diff: diffCommand,
  fork: forkCommand,
  reset: resetCommand,
  pause: pauseCommand,
  resume: resumeCommand,
  note: noteCommand,
  clock: clockCommand,
  curve: curveCommand,
  disqualify: disqualifyCommand,
  debrief: debriefCommand,
  example: exampleCommand,
  export: exportCommand,
  summary: summaryCommand,
  import: importCommand,
  devcontainer: devcontainerCommand,
  probe: probeCommand,
  verify: verifyCommand,
  delete: remove,
  orphans: orphansCommand,
};

/** `e2e-swe attempt (start|list|show|exec|grade|…) …`: every command of `usage`. */
export async function attemptCommand(args: string[], context: CliContext): Promise<number> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command)
    throw new UsageError(
      `${name ? `There is no command "attempt ${name}"` : 'Say what to do'}: ${Object.keys(commands).join(', ')}.`,
    );
  const first = rest.find((argument) => !argument.startsWith('-'));
  if (first !== undefined && isImportedId(first) && name !== 'show' && name !== 'import')
    throw new UsageError(`The attempt ${first} is imported, and only read.`);
  const store = new AttemptStore(storeFolder(context.env));
  const attempts = new Attempts({
    store,
    connect: () => connectEngine({ env: context.env }),
    log: stderrLog(context),
    hostEnv: context.env,
    guardScript: path.join(__dirname, 'guard.cjs'),
  });
  return command(rest, { ...context, store, attempts });
}

/** The id alone goes to stdout, for scripts. */
async function start(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    'allow-host-env': { type: 'boolean' },
    protocol: { type: 'string' },
  });
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new UsageError('Name one task folder.');
  const protocol = values.protocol === undefined ? undefined : await protocolIn(values.protocol);
  const { task, problems } = await loadTask(taskFolder(name));
  if (!task)
    throw new UsageError(`"${name}" is not a valid task: ${problems[0]?.message ?? 'see "e2e-swe tasks"'}`);
  const options = {
    allowHostEnv: () => Promise.resolve(values['allow-host-env'] ?? false),
    protocol,
  };
  for await (const event of context.attempts.start(task, options, context.signal)) {
    if (event.kind === 'phase') context.stderr(`${event.title}…\n`);
    else if (event.kind === 'progress') context.stderr(`  ${event.message}\n`);
    else if (event.kind === 'ready') {
      const { attempt, isolation, clamped } = event;
      const isolated = isolation.isIsolated ? 'offline' : 'NOT fully apart from this machine';
      const connection = isolation.connection.replace(/^failed /, 'a connection attempt failed: ');
      context.stderr(`${attempt.workdir} of ${attempt.task.name} is ready: ${isolated} (${connection}).\n`);
      if (awaitsStart(attempt))
        context.stderr(
          `It is measured: its clock stands until "e2e-swe attempt resume ${attempt.id}" starts it.\n`,
        );
      if (clamped.length > 0)
        context.stderr(`This machine has less than the task asks for: ${clamped.join(', ')}.\n`);
      context.stdout(`${attempt.id}\n`);
    }
  }
  return 0;
}

async function list(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  if (positionals.length > 0) throw new UsageError('"attempt list" takes no names.');
  const records = await context.store.list();
  const imported = await listImported(context);
  const all = [...records, ...imported.map(withoutTests)];
  if (values.json) context.stdout(`${JSON.stringify(all, null, 2)}\n`);
  else {
    for (const record of records) context.stdout(renderAttemptRow(record));
    for (const attempt of imported) context.stdout(renderImportedRow(attempt));
  }
  if (all.length === 0) context.stderr('No attempts yet: begin one with "e2e-swe attempt start TASK".\n');
  return 0;
}

async function show(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { json: { type: 'boolean' } });
  const id = oneId(positionals);
  if (isImportedId(id)) {
    const attempt = await readImported(id, context);
    context.stdout(values.json ? `${JSON.stringify(attempt, null, 2)}\n` : renderImported(attempt));
    return 0;
  }
  const record = await context.store.read(id);
  // A crash may have come between its end and this.
  if (isOver(record.state)) await unsealGrades(context.store.dirOf(record.id));
  context.stdout(
    values.json
      ? `${JSON.stringify(record, null, 2)}\n`
      : renderAttempt(record, context.store.dirOf(record.id)),
  );
  return 0;
}

/** The command's exit code is ours. */
async function exec(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, {
    interactive: { type: 'boolean', short: 'i' },
    actor: { type: 'string' },
  });
  const { actor = 'human' } = values;
  if (actor !== 'human' && actor !== 'agent') throw new UsageError('--actor is human or agent.');
  const [id, ...command] = positionals;
  if (id === undefined || command.length === 0)
    throw new UsageError('Name one attempt and a command: attempt exec ID -- CMD…');
  const { state } = await context.store.read(id);
  if (state === 'paused')
    throw new UsageError(`The attempt ${id} is paused: resume it first ("e2e-swe attempt resume ${id}").`);
  const refused = `The attempt ${id} is over, or open in another window: nothing can be run in it.`;
  // Not opened beside that window: whatever is started in there could meet its freeze.
  if (await context.attempts.whoHas(id)) throw new UsageError(refused);
  const open = await context.attempts.open(id, context.signal);
  try {
    if (open.readOnly) throw new UsageError(refused);
    const { user, workdir } = open.record;
    const input = values.interactive ? process.stdin : undefined;
    const onOutput = async (data: Buffer, stream: 'stdout' | 'stderr'): Promise<void> => {
      if (process[stream].write(data)) return;
      await new Promise((resolve) => process[stream].once('drain', resolve).once('close', resolve));
    };
    const spec = { command, user, workdir, input, onOutput };
    return await runRecorded(open.container, spec, open.recorder, context.signal, actor);
  } finally {
    await open.close();
  }
}

async function trySetup(args: string[], context: AttemptCommandContext): Promise<number> {
  const { positionals } = parseCommand(args, {});
  const { exitCode, durationMs, changed } = await context.attempts.trySetup(
    oneId(positionals),
    context.stderr,
    context.signal,
  );
  const lines = changed.map((path) => `  ${path}\n`).join('');
  context.stdout(
    `setup.sh: exit ${exitCode} in ${(durationMs / 1000).toFixed(1)} s\n${lines ? `changed:\n${lines}` : 'changed nothing\n'}`,
  );
  return exitCode === 0 ? 0 : 1;
}

async function giveUp(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { yes: { type: 'boolean' } });
  const id = oneId(positionals);
  requireYes(values.yes, `The attempt ${id} ends without a submission.`);
  await context.attempts.giveUp(id);
  context.stderr(`Gave up ${id}; its files stay until "e2e-swe attempt delete ${id}".\n`);
  return 0;
}

async function remove(args: string[], context: AttemptCommandContext): Promise<number> {
  const { values, positionals } = parseCommand(args, { yes: { type: 'boolean' } });
  const id = oneId(positionals);
  requireYes(values.yes, `The files, submissions and grades of the attempt ${id} are deleted for good.`);
  await context.attempts.delete(id);
  context.stderr(`Deleted ${id}.\n`);
  return 0;
}
