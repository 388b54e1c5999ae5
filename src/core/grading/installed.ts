import type { Change, ContainerHandle } from '#core/container/engine.ts';
import { fromBinary } from '#core/container/tarHeader.ts';
import { readTar, type TarEntry } from '#core/container/tarStream.ts';
import { isInside } from './plan.ts';
import type { GradeRecord } from './record.ts';
import { archivesOf, movedTo, rootName, type Submission, submissionFromEntries } from './submission.ts';
import { installPlaces, sortChanges } from './systemFiles.ts';

/** What a set-up left, as it goes to the tests. */
export interface Installed {
  /** The workdir, the artifacts and what was installed, with their owners. */
  readonly submission: Submission;
  /** The install places of which it holds something. */
  readonly places: readonly string[];
}

/** Takes a killed container's submission roots, and the files that its set-up added where installing adds them. */
export async function takeInstalled(
  container: ContainerHandle,
  input: { readonly roots: readonly string[]; readonly changes: readonly Change[]; readonly dir: string },
  record: GradeRecord,
  signal: AbortSignal,
): Promise<Installed> {
  const { roots, dir } = input;
  const { carried, left } = sortChanges(input.changes);
  const places = installPlaces.filter((place) => carried.some((added) => isInside(added, place)));
  const dropped: string[] = [];
  async function* entries(): AsyncGenerator<TarEntry> {
    for await (const { root, archive } of archivesOf(container, roots, signal))
      yield* movedTo(root, readTar(archive));
    for (const place of places) {
      const found = await container.readFolder(place, signal);
      if (found) yield* added(movedTo(place, found), carried, dropped);
    }
  }
  const submission = await submissionFromEntries(entries(), { roots: [...roots, ...places], dir, signal });
  const notCarried = [...left, ...dropped.map((name) => `A ${name}`)];
  if (notCarried.length > 0)
    record.marks([
      {
        rule: 'not-carried',
        message: `${notCarried.length} change${notCarried.length === 1 ? '' : 's'} of the set-up did not go to the tests, which run on the image's own system: ${notCarried.slice(0, 3).join(', ')}.`,
      },
    ]);
  return { submission, places };
}

/** The entries that were added; of a file with several names only where the first is among them. */
async function* added(
  entries: AsyncIterable<TarEntry>,
  carried: readonly string[],
  dropped: string[],
): AsyncGenerator<TarEntry> {
  const roots = carried.map(rootName);
  const taken = new Set<string>();
  for await (const entry of entries) {
    const { header } = entry;
    if (!roots.some((root) => header.name === root || header.name.startsWith(`${root}/`))) continue;
    if (header.type === 'hardlink' && !taken.has(header.linkName)) {
      dropped.push(`/${fromBinary(header.name)}`);
      continue;
    }
    taken.add(header.name);
    yield entry;
  }
}
