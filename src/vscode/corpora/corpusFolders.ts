import path from 'node:path';

/** Where a corpus comes from; it decides what can be done with it. */
export type CorpusKind = 'configured' | 'workspace' | 'bundled';

/** A folder to look for tasks in. */
export interface CorpusFolder {
  readonly kind: CorpusKind;
  readonly path: string;
  readonly label: string;
  /** The text of the setting that named it, so that removing finds it again. */
  readonly setting?: string;
}

export interface FolderSources {
  readonly configured: readonly string[];
  readonly workspace: readonly string[];
  /** Undefined when the bundled tasks are hidden. */
  readonly bundled: string | undefined;
  readonly home: string;
}

/**
 * The folders to list, each once: what the person added comes before what was found, the bundled ones last. A workspace
 * folder gives way to the others, which know more about the folder than that it is open.
 */
export function listCorpusFolders(sources: FolderSources): CorpusFolder[] {
  const { configured, workspace, bundled, home } = sources;
  const added = configured.map((setting) => folderOf('configured', expandHome(setting, home), setting));
  const ours =
    bundled === undefined
      ? []
      : [{ ...folderOf('bundled', path.normalize(bundled)), label: 'Bundled tasks' }];
  const open = workspace.map((folder) => folderOf('workspace', path.normalize(folder)));
  const once = new Map<string, CorpusFolder>();
  for (const folder of [...added, ...ours, ...open]) {
    if (!once.has(folder.path)) once.set(folder.path, folder);
  }
  const order: readonly CorpusKind[] = ['configured', 'workspace', 'bundled'];
  return [...once.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

function folderOf(kind: CorpusKind, folder: string, setting?: string): CorpusFolder {
  const label = path.basename(folder) || folder;
  return { kind, path: folder, label, ...(setting === undefined ? {} : { setting }) };
}

/** `~/x` and `~` as the shell reads them; without a trailing separator. */
export function expandHome(folder: string, home: string): string {
  const text = folder.trim();
  const expanded = text === '~' || text.startsWith('~/') ? path.join(home, text.slice(1)) : text;
  const normal = path.normalize(expanded);
  return normal.length > 1 && normal.endsWith(path.sep) ? normal.slice(0, -1) : normal;
}
