import type { AttemptStore } from '#core/attempt/attemptStore.ts';
import { attemptCommand } from '../../../src/cli/attempt.ts';
import { reportFailure } from '../../../src/cli/context.ts';

/** Runs `e2e-swe attempt …` over a store, as the command line does. */
export async function attemptCli(store: AttemptStore, ...args: string[]) {
  const out = { stdout: '', stderr: '', bytes: Buffer.alloc(0) };
  const context = {
    signal: new AbortController().signal,
    env: { E2E_SWE_HOME: store.storeDir },
    stdout: (text: string): void => {
      out.stdout += text;
    },
    stderr: (text: string): void => {
      out.stderr += text;
    },
    stdoutBytes: async (bytes: Uint8Array): Promise<void> => {
      out.bytes = Buffer.concat([out.bytes, bytes]);
    },
  };
  const code = await attemptCommand(args, context).catch((error: unknown) => reportFailure(error, context));
  return { code, ...out };
}
