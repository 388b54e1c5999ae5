import { UserError } from '#core/base/errors.ts';
import type { ContainerHandle } from '#core/container/engine.ts';
import type { KeptContainers } from '#vscode/ports.ts';

/** Kept containers by the grade's folder, in memory; `failure` is an engine that does not answer. */
export class FakeKept implements KeptContainers {
  readonly dirs = new Set<string>();
  failure: UserError | undefined;

  async list(): Promise<readonly string[]> {
    this.#check();
    return [...this.dirs];
  }

  async open(gradeDir: string): Promise<ContainerHandle> {
    this.#check();
    if (!this.dirs.has(gradeDir))
      throw new UserError('The container of this grade was not kept, or is gone.');
    return { id: gradeDir } as unknown as ContainerHandle;
  }

  async remove(gradeDir: string): Promise<void> {
    this.#check();
    this.dirs.delete(gradeDir);
  }

  #check(): void {
    if (this.failure) throw this.failure;
  }
}
