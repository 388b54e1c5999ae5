import type { Report } from '#core/report/types.ts';

/** The beginning of a command, with what may stand before it. */
const begin = String.raw`(?:^|[;&|(])\s*(?:(?:then|do|else|sudo|if|while|until|exec|time|!|[A-Z_]+=\S*)\s+)*`;

/** Commands of a test.sh that fetch something; a build tool counts only where its words say so. */
const fetching = [
  String.raw`(?:apt-get|apt)\s+(?:-\S+\s+)*(?:update|install|upgrade)`,
  String.raw`(?:apk\s+add|(?:dnf|yum)\s+\S*\s*install)`,
  '(?:curl|wget|uvx|npx)',
  String.raw`uv\s+(?:pip|sync|run|tool|add)`,
  String.raw`(?:pip3?|python3?\s+-m\s+pip)\s+(?:install|download)(?![^\n]*--no-index)`,
  String.raw`(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install|add|exec|dlx|create)`,
  String.raw`cargo\s+(?:install|fetch|add)`,
  String.raw`go\s+(?:get|install|mod\s+download)`,
  String.raw`(?:gem|bundle|composer|poetry|conda)\s+install`,
  String.raw`git\s+(?:clone|fetch|pull)`,
];
const fetches = new RegExp(`${begin}(?:${fetching.join('|')})(?=\\s|$)`, 'm');

/** What such commands say without a network. */
const failures = [
  /could not resolve (?:host|proxy)/i,
  /temporary failure (?:in name resolution|resolving)/i,
  /name or service not known/i,
  /no address associated with hostname/i,
  /getaddrinfo (?:EAI_AGAIN|ENOTFOUND)/i,
  /network is unreachable/i,
  /failed to (?:lookup address|fetch|download)/i,
  /unable to resolve host address/i,
  /dns error/i,
  /dial tcp: lookup /i,
  /no route to host/i,
];

/**
 * The line that shows that the verifier itself needs the network: its own script fetches something, a fetch failed,
 * and no test was reported. All three are asked for, so that a submission cannot print its way out of a zero:
 * a verifier that needs no network is never excused. Undefined otherwise.
 */
export function neededNetwork(testScript: string, output: string, report: Report): string | undefined {
  if (report.tests.length > 0 || !fetches.test(withoutComments(testScript))) return undefined;
  return output
    .split(/\r?\n/)
    .find((line) => failures.some((failure) => failure.test(line)))
    ?.trim()
    .slice(0, 200);
}

function withoutComments(script: string): string {
  return script
    .split(/\r?\n/)
    .filter((line) => !/^\s*#/.test(line))
    .join('\n');
}
