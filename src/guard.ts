import { runGuard } from '#core/attempt/guardProcess.ts';

/** Composition root of the guard: `guard.cjs FOLDER ATTEMPT OWNER`, with its owner's signs of life on standard input. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
void runGuard(process.argv.slice(2), process.stdin).finally(() => process.exit());
