import type { ContainerHandle, InteractiveExec } from '#core/container/engine.ts';

/** How long the engine may take from an accepted start to a running process. */
const settleMs = 2_000;

/**
 * Keeps starts of processes and the freezing of their container apart. A process that is just being started when its
 * container is frozen stays half born: the engine (20.10) then answers nothing more about that container, not even a
 * thaw. It does not say when a start is over, so one counts as under way until the process ended or for some seconds.
 */
export class StartGate {
  readonly #starting = new Set<Promise<void>>();
  #closed: Promise<unknown> | undefined;

  /** The container, but its processes start only while the gate is open. */
  through(container: ContainerHandle): ContainerHandle {
    const start = async <T>(run: () => Promise<T>): Promise<T> => {
      while (this.#closed !== undefined) await this.#closed;
      const running = run();
      this.#register(running);
      return running;
    };
    const exec: ContainerHandle['exec'] = (spec, signal) => start(() => container.exec(spec, signal));
    const interact: ContainerHandle['interact'] = (spec, signal) =>
      start(() => container.interact(spec, signal));
    return new Proxy(container, {
      get(target, key) {
        if (key === 'exec') return exec;
        if (key === 'interact') return interact;
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** Runs what freezes or thaws, once no process is being started; none is until it is over. One at a time. */
  async closedFor<T>(work: () => Promise<T>): Promise<T> {
    let open = (): void => undefined;
    this.#closed = new Promise<void>((resolve) => {
      open = resolve;
    });
    try {
      await Promise.all(this.#starting);
      return await work();
    } finally {
      this.#closed = undefined;
      open();
    }
  }

  /** Over when the process ended (an exec's result, or the close of its stream), or after `settleMs`. */
  #register(running: Promise<unknown>): void {
    const settled = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, settleMs);
      const over = (): void => {
        clearTimeout(timer);
        resolve();
      };
      running.then((started) => {
        const stream = (started as Partial<InteractiveExec>).stream;
        if (stream === undefined || stream.destroyed) over();
        else stream.once('close', over);
      }, over);
    });
    this.#starting.add(settled);
    void settled.then(() => this.#starting.delete(settled));
  }
}
