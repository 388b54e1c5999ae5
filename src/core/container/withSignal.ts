/** Options of a dockerode call that ends with a signal. */
export function withSignal<T extends object>(
  options: T,
  signal: AbortSignal | undefined,
): T & { abortSignal?: AbortSignal } {
  return signal ? { ...options, abortSignal: signal } : options;
}
