/** Items of the Testing view, as the fake of VS Code makes them. */
import type { Range, Uri } from './vscode.ts';

export class FakeTestItem {
  readonly children = new FakeTestItems(this);
  parent: FakeTestItem | undefined;
  canResolveChildren = false;
  description?: string;
  sortText?: string;
  range?: Range;
  constructor(
    readonly id: string,
    readonly label: string,
    readonly uri?: Uri,
  ) {}
}

export class FakeTestItems {
  #items = new Map<string, FakeTestItem>();
  constructor(readonly parent?: FakeTestItem) {}
  get size(): number {
    return this.#items.size;
  }
  get(id: string): FakeTestItem | undefined {
    return this.#items.get(id);
  }
  add(item: FakeTestItem): void {
    item.parent = this.parent;
    this.#items.set(item.id, item);
  }
  replace(items: readonly FakeTestItem[]): void {
    this.#items = new Map();
    for (const item of items) {
      if (this.#items.has(item.id)) throw new Error(`Two items have the id ${item.id}`);
      this.add(item);
    }
  }
  [Symbol.iterator]() {
    return this.#items[Symbol.iterator]();
  }
}
