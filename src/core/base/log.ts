/** The log that core writes to; front ends give it a channel or a stream. */
export interface Log {
  trace(message: string): void;
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

const ignore = (): void => undefined;

/** Drops everything. */
export const nullLog: Log = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
