import { expect, test } from 'vitest';
import { judge } from '#core/container/bridgeRules.ts';
import { parseFindings } from '#core/container/bridges.ts';

/** The probe's output: triples, then the variables of processes. */
function output(triples: readonly (readonly [string, string, string])[], variables: readonly string[] = []) {
  const fields = [...triples.flat(), 'environ', '', '', ...variables, ''];
  return Buffer.from(fields.join('\0'));
}

test.each([
  ['variable', 'SSH_AUTH_SOCK', '/tmp/vscode-ssh-auth-1.sock', { isBridge: true, canScrub: false }],
  ['variable', 'SSH_AUTH_SOCK', '', undefined],
  ['variable', 'REMOTE_CONTAINERS_IPC', '/tmp/x', { isBridge: true }],
  ['variable', 'VSCODE_IPC_HOOK_CLI', '/tmp/x', { isBridge: true }],
  ['variable', 'VSCODE_GIT_ASKPASS_MAIN', '/x', { isBridge: true }],
  ['variable', 'VSCODE_CWD', '/app', undefined],
  ['variable', 'PATH', '/bin', undefined],
  ['socket', '/tmp/vscode-ssh-auth-1a.sock', '', { isBridge: true, canScrub: true }],
  ['socket', '/tmp/ssh-XyZ/agent.12', '', { isBridge: true, canScrub: true }],
  ['socket', '/home/builder/.gnupg/S.gpg-agent.ssh', '', { isBridge: true, canScrub: true }],
  ['socket', '/run/user/1000/vscode-git-1.sock', '', { isBridge: true, canScrub: true }],
  ['socket', '/tmp/vscode-remote-containers-ipc-1.sock', '', { isBridge: true, canScrub: true }],
  ['socket', '/app/vscode-git-1.sock', '', { isBridge: true, canScrub: false }],
  ['socket', '/tmp/../app/vscode-git-1.sock', '', { isBridge: true, canScrub: false }],
  [
    'socket',
    '/tmp/.s.PGSQL.5432',
    '',
    { isBridge: false, canScrub: false, meaning: 'something listens here' },
  ],
  ['socket', '@/tmp/.X11-unix/X0', '', { isBridge: true, canScrub: false }],
  ['port', '0100007F:1F90', '', { name: '127.0.0.1:8080', isBridge: false }],
  ['port', '00000000:0016', '', { name: '0.0.0.0:22' }],
  ['port', '00000000000000000000000000000000:0050', '', { name: '[::]:80' }],
  ['port', '00000000000000000000000001000000:0050', '', { name: '[::1]:80' }],
  ['port', 'nonsense', '', { name: 'nonsense' }],
  [
    'credential helper',
    '/root/.gitconfig',
    'helper = "!f() { /root/.vscode-server/bin/1/node /tmp/vscode-remote-containers-1.js git-credential-helper $*; }; f"',
    { isBridge: true, canScrub: true },
  ],
  ['credential helper', '/app/.git/config', 'helper = x vscode', { isBridge: true, canScrub: false }],
  [
    'credential helper',
    '/etc/gitconfig',
    'helper = store',
    { isBridge: false, canScrub: false, meaning: 'git asks helper = store' },
  ],
  ['credential file', '/root/.netrc', '', { isBridge: false }],
  ['editor server', '/root/.vscode-server', '', { isBridge: false }],
  ['anything else', '/x', '', undefined],
] as const)('%s %s: %j', (kind, name, detail, expected) => {
  const found = judge(kind, name, detail);
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(expected);
});

test('reads what the probe printed, each thing once', () => {
  const found = parseFindings(
    output(
      [
        ['socket', '/tmp/vscode-ipc-1.sock', ''],
        ['socket', '/tmp/vscode-ipc-1.sock', ''],
        ['port', '0100007F:1F90', ''],
      ],
      ['HOME=/root', 'SSH_AUTH_SOCK=/tmp/a=b', 'SSH_AUTH_SOCK=/tmp/c', 'GIT_ASKPASS='],
    ),
  );
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'socket /tmp/vscode-ipc-1.sock',
    'port 127.0.0.1:8080',
    'variable SSH_AUTH_SOCK',
  ]);
});

test('a name with newlines stays one name', () => {
  const name = '/tmp/a\nport\n/vscode-git-1.sock';
  expect(parseFindings(output([['socket', name, '']]))).toMatchObject([{ kind: 'socket', name }]);
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a torn triple', Buffer.from('socket\0/tmp/vscode-ipc')],
  ['a variable told as a thing', output([['variable', 'SSH_AUTH_SOCK', '/x']])],
  ['no UTF-8', Buffer.from([0xff, 0, 0xfe, 0, 0xfd, 0])],
  ['a name that is too long', output([['socket', `/tmp/${'x'.repeat(5_000)}/vscode-git-1.sock`, '']])],
])('of %s nothing is believed', (_what, bytes) => {
  expect(parseFindings(bytes)).toEqual([]);
});

test('a flood is cut off', () => {
  const flood = Array.from({ length: 20_000 }, (_, at) => ['socket', `/tmp/${at}.sock`, ''] as const);
  expect(parseFindings(output(flood))).toHaveLength(500);
});
