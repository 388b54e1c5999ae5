import type { Disposable } from '#core/base/disposable.ts';
import { errorMessage, isCancellation } from '#core/base/errors.ts';
import { Emitter } from '#core/base/event.ts';
import type { Log } from '#core/base/log.ts';
import type { Task, TaskEntry } from '#core/task/types.ts';
import type { TaskReader } from '#vscode/ports.ts';
import type { CorpusFolder } from './corpusFolders.ts';

/** A folder of tasks with what was found in it. */
export interface Corpus extends CorpusFolder {
  readonly entries: readonly TaskEntry[];
  /** Why the folder could not be read; `entries` is empty then. */
  readonly failure?: string;
}

export interface TaskIndexDeps {
  readonly reader: Pick<TaskReader, 'discover' | 'find'>;
  /** Asked at each refresh: settings and workspace folders change. */
  readonly folders: () => readonly CorpusFolder[];
  readonly log: Log;
}

/** All corpora of the window. Reads nothing before `ready` or `refresh` is called. */
export class TaskIndex implements Disposable {
  readonly #deps: TaskIndexDeps;
  readonly #changed = new Emitter<void>();
  #corpora: readonly Corpus[] = [];
  #running: { readonly done: Promise<void>; readonly controller: AbortController } | undefined;
  #loaded = false;

  /** Fires when a refresh begins and when it ends. */
  readonly onDidChange = this.#changed.event;

  constructor(deps: TaskIndexDeps) {
    this.#deps = deps;
  }

  get corpora(): readonly Corpus[] {
    return this.#corpora;
  }

  get state(): 'loading' | 'empty' | 'ready' {
    if (this.#corpora.length > 0) return 'ready';
    return this.#loaded && !this.#running ? 'empty' : 'loading';
  }

  /** False until somebody asked for the tasks: nothing needs to be kept up to date then. */
  get wasRead(): boolean {
    return this.#loaded || this.#running !== undefined;
  }

  /** Every task that Harbor's model accepts. */
  get tasks(): readonly Task[] {
    return this.#corpora.flatMap((corpus) => corpus.entries.flatMap((entry) => entry.task ?? []));
  }

  findByDir(dir: string): TaskEntry | undefined {
    for (const corpus of this.#corpora) {
      const entry = corpus.entries.find((candidate) => candidate.path === dir);
      if (entry) return entry;
    }
    return undefined;
  }

  /** Resolves when the folders were read at least once. */
  async ready(): Promise<void> {
    if (this.#running) await this.#running.done;
    else if (!this.#loaded) await this.refresh();
  }

  /** Reads all folders again; a refresh under way is dropped in favour of the new one. */
  async refresh(): Promise<void> {
    this.#running?.controller.abort();
    const controller = new AbortController();
    const done = this.#load(controller.signal);
    const running = { done, controller };
    this.#running = running;
    this.#changed.fire();
    await done;
    if (this.#running !== running) {
      // A newer refresh took over: its end is ours.
      await this.#running?.done;
      return;
    }
    this.#running = undefined;
    this.#loaded = true;
    this.#changed.fire();
  }

  async #load(signal: AbortSignal): Promise<void> {
    const folders = this.#deps.folders();
    const read = await Promise.all(folders.map((folder) => this.#read(folder, signal)));
    if (signal.aborted) return;
    this.#corpora = withoutRepeats(read);
    const count = this.#corpora.reduce((sum, corpus) => sum + corpus.entries.length, 0);
    this.#deps.log.info(`Found ${count} task folders in ${this.#corpora.length} corpora.`);
  }

  async #read(folder: CorpusFolder, signal: AbortSignal): Promise<Corpus> {
    try {
      const { reader } = this.#deps;
      const look = folder.kind === 'workspace' ? reader.find : reader.discover;
      return { ...folder, entries: await look(folder.path, signal) };
    } catch (error) {
      if (!isCancellation(error)) {
        this.#deps.log.warn(`${folder.path} could not be read: ${errorMessage(error)}`);
      }
      return { ...folder, entries: [], failure: errorMessage(error) };
    }
  }

  dispose(): void {
    this.#running?.controller.abort();
    this.#changed.dispose();
  }
}

/**
 * Lists each task once, where the person put it: a corpus that is also open as a workspace folder keeps its tasks.
 * Workspace folders without tasks of their own are dropped.
 */
function withoutRepeats(corpora: readonly Corpus[]): Corpus[] {
  const listed = new Set<string>();
  const claim = (corpus: Corpus): Corpus => {
    const entries = corpus.entries.filter((entry) => !listed.has(entry.path));
    for (const entry of entries) listed.add(entry.path);
    return { ...corpus, entries };
  };
  const own = corpora.map((corpus) => (corpus.kind === 'workspace' ? corpus : claim(corpus)));
  return own
    .map((corpus) => (corpus.kind === 'workspace' ? claim(corpus) : corpus))
    .filter((corpus) => corpus.kind !== 'workspace' || corpus.entries.length > 0);
}
