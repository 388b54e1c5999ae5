import { pathsOverlap, posixParts, pyRepr } from './python.ts';
import type { ArtifactConfig, EnvironmentConfig, Task } from './types.ts';

/** What is carried out of the agent's container, in the order in which Harbor collects it (harbor.md §2.7, §4.2). */

/** The folder that is always collected. */
export function conventionSource(os: EnvironmentConfig['os']): string {
  return os === 'windows' ? 'C:/logs/artifacts' : '/logs/artifacts';
}

/** Why a source is rejected, or undefined. */
export function checkSource(source: string): string | undefined {
  if (!posixParts(source).includes('..')) return undefined;
  return `Artifact source must not contain '..' components, got: ${pyRepr(source)}`;
}

/** The artifacts of a single-step task as tables, `/logs/artifacts` first unless the task declares it itself. */
export function normaliseArtifacts(task: Pick<Task, 'config'>): readonly ArtifactConfig[] {
  const { artifacts, environment } = task.config;
  return withConvention(artifacts, conventionSource(environment.os));
}

function withConvention(
  entries: readonly (string | ArtifactConfig)[],
  convention: string,
): readonly ArtifactConfig[] {
  const tables = entries.map((entry) => (typeof entry === 'string' ? plain(entry) : entry));
  const declared = tables.some(
    (entry) => trimSlashes(entry.source) === trimSlashes(convention) && (entry.service || 'main') === 'main',
  );
  return declared ? tables : [plain(convention), ...tables];
}

function plain(source: string): ArtifactConfig {
  return { source, destination: null, exclude: [], service: null };
}

function trimSlashes(path: string): string {
  return path.replace(/\/+$/, '');
}

/** Harbor's warnings about one collection set: of two that overlap the first is kept. */
export function artifactOverlaps(
  entries: readonly (string | ArtifactConfig)[],
  convention: string,
): readonly string[] {
  const all = withConvention(entries, convention);
  const out: string[] = [];
  for (const [first, second] of pairs(all)) {
    if (!pathsOverlap(first.source, second.source)) continue;
    out.push(
      `Artifact sources overlap: ${describe(first)} and ${describe(second)} map to the same location under the shared artifacts dir; on collision the first is kept and the rest are skipped at collection time.`,
    );
  }
  const destinations = all.flatMap((entry) => (entry.destination === null ? [] : [entry.destination]));
  for (const [first, second] of pairs(destinations)) {
    if (!pathsOverlap(first, second)) continue;
    out.push(
      `Artifact destinations overlap: ${pyRepr(first)} and ${pyRepr(second)} map to the same location under the artifacts dir; on collision the first is kept and the rest are skipped.`,
    );
  }
  return out;
}

function describe(entry: ArtifactConfig): string {
  return `${pyRepr(entry.source)} (service ${pyRepr(entry.service || 'main')})`;
}

function pairs<T>(items: readonly T[]): readonly (readonly [T, T])[] {
  return items.flatMap((first, index) => items.slice(index + 1).map((second) => [first, second] as const));
}
