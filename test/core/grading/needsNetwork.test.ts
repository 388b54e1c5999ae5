import { describe, expect, it } from 'vitest';
import { neededNetwork } from '#core/grading/needsNetwork.ts';
import type { Report } from '#core/report/types.ts';

const none: Report = { tests: [], state: 'none', notes: [] };
const one: Report = {
  tests: [{ id: 'a', name: 'a', suite: [], status: 'failed' }],
  state: 'read',
  notes: [],
};
const apt =
  "Err:1 http://mirror.invalid bookworm InRelease\n  Temporary failure resolving 'mirror.invalid'\n";

describe('a verifier that needs the network', () => {
  const needing: [string, string, string][] = [
    ['apt', 'apt-get update\napt-get install -y curl\n', apt],
    [
      'curl piped to sh',
      'curl -LsSf https://x.invalid/i.sh | sh\n',
      'curl: (6) Could not resolve host: x.invalid\n',
    ],
    [
      'uvx after a condition',
      'if ! uvx pytest; then exit 1; fi\n',
      'error: Failed to fetch: `https://x.invalid/simple`\n',
    ],
    ['pip by module', 'python3 -m pip install pytest\n', '[Errno -3] Temporary failure in name resolution\n'],
    ['npm', 'cd /tests && npm ci\n', 'npm ERR! getaddrinfo EAI_AGAIN x.invalid\n'],
    ['go', 'GOFLAGS=-mod=mod go get ./...\n', 'dial tcp: lookup proxy.invalid: no such host\n'],
  ];
  it.each(needing)('is recognised: %s', (_name, script, output) => {
    expect(neededNetwork(script, output, none)).toBeTruthy();
  });

  it('is not excused when its script fetches nothing, whatever the submission prints', () => {
    expect(neededNetwork('bash ./setup.sh\npytest /tests\n', apt, none)).toBeUndefined();
  });

  it.each(['go test ./...\n', 'npm test\n', 'cargo test --offline\n', 'pip install --no-index ./app\n'])(
    'is not excused for a build tool that need not fetch: %j',
    (script) => {
      expect(neededNetwork(script, 'dial tcp: lookup proxy.invalid: no such host\n', none)).toBeUndefined();
    },
  );

  it('is not excused by a word in a comment or in an argument', () => {
    expect(neededNetwork('# apt-get update is not needed\necho "no curl here"\n', apt, none)).toBeUndefined();
  });

  it('is not excused when tests were reported', () => {
    expect(neededNetwork('pip install x || true\npytest\n', apt, one)).toBeUndefined();
  });

  it('is not excused when nothing failed for want of a network', () => {
    expect(neededNetwork('pip install x\n', 'all fine\n', none)).toBeUndefined();
  });
});
