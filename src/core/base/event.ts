import type { Disposable } from './disposable.ts';

/** Subscribes a listener; the result unsubscribes it. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** A source of events that core can own without knowing VS Code. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>();

  readonly event: Event<T> = (listener) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}
