import type { Report } from '#core/report/types.ts';

/** Commands of a test.sh that fetch something, at the start of a command. */
const fetches =
  /(?:^|[;&|(])\s*(?:(?:then|do|else|sudo|if|while|until|exec|time|!|[A-Z_]+=\S*)\s+)*(apt-get|apt|apk|dnf|yum|curl|wget|uvx|uv|pip3?|python3? -m pip|npm|npx|yarn|pnpm|bun|cargo|go|gem|bundle|mvn|gradle|git (?:clone|fetch|pull))\s+(?:\S+\s+)*?/m;

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
