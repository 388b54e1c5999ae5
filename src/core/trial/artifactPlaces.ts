import { normaliseArtifacts } from '#core/task/artifacts.ts';
import type { ArtifactConfig, Task } from '#core/task/types.ts';
import { isBelow, toBytes } from './archive.ts';

/** Where one declared artifact lies in a container and in a trial's `artifacts/` folder (harbor.md §2.7, §4.2). */
export interface ArtifactPlace {
  readonly artifact: ArtifactConfig;
  /** Container path without the slash in front, as bytes; `''` is the root. */
  readonly root: string;
  /** Below `artifacts/`, as bytes. */
  readonly host: string;
  /** An earlier artifact lies at the same host path, above or below it: Harbor collects only that one. */
  readonly shadowed: boolean;
}

/** The places of a task's artifacts in Harbor's order of collection, `/logs/artifacts` first. */
export function artifactPlaces(task: Pick<Task, 'config'>): readonly ArtifactPlace[] {
  const places: ArtifactPlace[] = [];
  for (const artifact of normaliseArtifacts(task)) {
    const root = toBytes(pathParts(artifact.source).join('/'));
    const host = artifact.destination
      ? toBytes(
          pathParts(artifact.destination)
            .filter((part) => part !== '..')
            .join('/'),
        )
      : root;
    const shadowed = places.some(
      (other) =>
        !other.shadowed && other.root !== root && (isBelow(other.host, host) || isBelow(host, other.host)),
    );
    places.push({ artifact, root, host, shadowed });
  }
  return places;
}

function pathParts(text: string): string[] {
  return text.split('/').filter((part) => part !== '' && part !== '.');
}
