/** Something to be released once. */
export interface Disposable {
  dispose(): void;
}

/** Collects disposables; what is added after `dispose` is released at once. */
export class DisposableStore implements Disposable {
  #items: Disposable[] = [];
  #disposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.#disposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  dispose(): void {
    this.#disposed = true;
    for (const item of this.#items.splice(0).reverse()) item.dispose();
  }
}
