import type { Log } from '#core/base/log.ts';

const shownPaths = 8;

/** The first paths in one sentence; the log has all of them. */
export function willNotTravelSentence(paths: readonly string[], log: Log): string | undefined {
  if (paths.length === 0) return undefined;
  log.info(`Changed in the container and no part of a submission:\n  ${paths.join('\n  ')}`);
  const rest = paths.length - shownPaths;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `Changed outside the submission, and will not travel: ${paths.slice(0, shownPaths).join(', ')}${more}. Only the code and setup.sh count.`;
}
