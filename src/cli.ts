import { attemptCommand } from './cli/attempt.ts';
import { cleanCommand } from './cli/clean.ts';
import { type CliContext, exitCodes, reportFailure, UsageError } from './cli/context.ts';
import { enginesCommand } from './cli/engines.ts';
import { gradeCommand } from './cli/grade.ts';
import { harborCheckCommand } from './cli/harborCheck.ts';
import { prepareCommand } from './cli/prepare.ts';
import { tasksCommand } from './cli/tasks.ts';
import { usage } from './cli/usage.ts';

/** Composition root of the `e2e-swe` command line: the same core as the extension, headless. */
const commands: Readonly<Record<string, (args: string[], context: CliContext) => Promise<number>>> = {
  tasks: tasksCommand,
  grade: gradeCommand,
  attempt: attemptCommand,
  'harbor-check': harborCheckCommand,
  prepare: prepareCommand,
  engines: enginesCommand,
  clean: cleanCommand,
};

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...args] = argv;
  const cancel = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => cancel.abort());
  // A reader that has seen enough (`| head`) is no failure.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  const context: CliContext = {
    signal: cancel.signal,
    env: process.env,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    // Its errors are those of the stream, which are handled above.
    stdoutBytes: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
  };
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    context[name === undefined ? 'stderr' : 'stdout'](usage);
    return name === undefined ? 2 : 0;
  }
  // Behind "--" are the words of another command.
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (Object.hasOwn(commands, name) && own.some((arg) => arg === '--help' || arg === '-h')) {
    context.stdout(usage);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (!command) throw new UsageError(`There is no command "${name}".`);
    return await command(args, context);
  } catch (error) {
    return reportFailure(error, context);
  }
}

// Until there is a result: a process that ends without one must not look like "resolved".
process.exitCode = exitCodes.bug;
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
