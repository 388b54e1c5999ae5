import { StringDecoder } from 'node:string_decoder';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { ContainerTerminal } from '#core/container/terminal.ts';
import type { CastFile, CastSize } from './castFile.ts';
import type { Recorder } from './recorder.ts';
import { type CommandSpec, runCommand } from './runCommand.ts';
import { ShellMarks } from './shellMarks.ts';

/** Typing is activity; one event in this time is enough. */
const activityMs = 5_000;

/** A terminal whose input and output go into a cast, and whose commands go into the record. */
export function recordTerminal(
  recorder: Recorder,
  terminal: ContainerTerminal,
  size: CastSize,
): ContainerTerminal {
  const { cast, id } = recorder.openCast(size);
  const marks = new ShellMarks((command) =>
    recorder.command({ in: id, actor: 'human', command: command.text, ...command.cwd }),
  );
  let lastActivity = Number.NEGATIVE_INFINITY;
  void terminal.exit.then((exitCode) => {
    marks.end();
    return closeCast(recorder, cast, id, exitCode ?? null);
  });
  return {
    ...terminal,
    onData: (listener) =>
      terminal.onData((data) => {
        const text = marks.take(data);
        if (text === '') return;
        cast.output(text);
        listener(text);
      }),
    write(text) {
      cast.input(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'));
      if (performance.now() - lastActivity > activityMs) {
        lastActivity = performance.now();
        recorder.append({ kind: 'activity', in: id });
      }
      terminal.write(text);
    },
    resize(cols, rows) {
      cast.resize({ cols, rows });
      return terminal.resize(cols, rows);
    },
  };
}

/** `runCommand`, with the command, its output and its exit code in the record. */
export async function runRecorded(
  container: ContainerHandle,
  spec: CommandSpec,
  recorder: Recorder | undefined,
  signal: AbortSignal,
  actor: 'human' | 'agent' = 'human',
): Promise<number> {
  if (!recorder) return runCommand(container, spec, signal);
  const { cast, id } = recorder.openCast({ cols: 80, rows: 24 });
  const ended = recorder.command({
    in: id,
    actor,
    command: spec.command.map(quoted).join(' '),
    cwd: spec.workdir,
  });
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const onOutput: CommandSpec['onOutput'] = (data, stream) => {
    cast.output(decoders[stream].write(data).replace(/(?<!\r)\n/g, '\r\n'));
    return spec.onOutput(data, stream);
  };
  let exitCode: number | null = null;
  try {
    exitCode = await runCommand(container, { ...spec, onOutput }, signal);
    return exitCode;
  } finally {
    ended(exitCode);
    await closeCast(recorder, cast, id, exitCode);
  }
}

async function closeCast(
  recorder: Recorder,
  cast: CastFile,
  id: string,
  exitCode: number | null,
): Promise<void> {
  await cast.close();
  recorder.append({ kind: 'terminal-closed', id, exitCode, omitted: cast.omitted });
}

/** As a shell would need it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
