import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { type Candidate, listCandidates, placesToLook } from '#core/container/candidates.ts';
import { machine } from './machine.ts';

type Parts = NonNullable<Parameters<typeof machine>[0]>;

/** A context of the docker command, as files of its folder. */
function context(
  name: string,
  endpoint: { readonly Host?: string; readonly SkipTLSVerify?: boolean },
  tls: readonly string[] = [],
  folder = '/home/me/.docker',
): Record<string, string> {
  const id = createHash('sha256').update(name).digest('hex');
  const meta = { Name: name, Metadata: {}, Endpoints: { docker: endpoint } };
  return {
    [`${folder}/contexts/meta/${id}/meta.json`]: JSON.stringify(meta),
    ...Object.fromEntries(tls.map((file) => [`${folder}/contexts/tls/${id}/docker/${file}.pem`, file])),
  };
}

const config = (currentContext: string): Record<string, string> => ({
  '/home/me/.docker/config.json': JSON.stringify({ auths: {}, currentContext }),
});

const show = ({ name, address }: Candidate): string => `${name}: ${address}`;

describe('the usual places', () => {
  test.each<[string, Parts, readonly string[]]>([
    [
      'Linux',
      { env: { XDG_RUNTIME_DIR: '/run/user/1000' }, uid: 1000 },
      [
        'Docker: unix:///var/run/docker.sock',
        'rootless Docker: unix:///run/user/1000/docker.sock',
        'Docker Desktop: unix:///home/me/.docker/run/docker.sock',
        'Docker Desktop: unix:///home/me/.docker/desktop/docker.sock',
        'Rancher Desktop: unix:///home/me/.rd/docker.sock',
        'Colima: unix:///home/me/.colima/default/docker.sock',
        'rootless Podman: unix:///run/user/1000/podman/podman.sock',
        'Podman: unix:///run/podman/podman.sock',
      ],
    ],
    [
      'Linux, root, without a log-in session',
      { uid: 0, home: '/root' },
      [
        'Docker: unix:///var/run/docker.sock',
        'Docker Desktop: unix:///root/.docker/run/docker.sock',
        'Docker Desktop: unix:///root/.docker/desktop/docker.sock',
        'Rancher Desktop: unix:///root/.rd/docker.sock',
        'Colima: unix:///root/.colima/default/docker.sock',
        'Podman: unix:///run/podman/podman.sock',
      ],
    ],
    [
      'macOS',
      { platform: 'darwin', env: { TMPDIR: '/var/folders/x/T/' }, home: '/Users/me', uid: 501 },
      [
        'Docker: unix:///var/run/docker.sock',
        'Docker Desktop: unix:///Users/me/.docker/run/docker.sock',
        'OrbStack: unix:///Users/me/.orbstack/run/docker.sock',
        'Rancher Desktop: unix:///Users/me/.rd/docker.sock',
        'Colima: unix:///Users/me/.colima/default/docker.sock',
        'Podman machine: unix:///Users/me/.local/share/containers/podman/machine/podman.sock',
        'Podman machine: unix:///var/folders/x/T/podman/podman-machine-default-api.sock',
        'Podman machine: unix:///Users/me/.local/share/containers/podman/machine/qemu/podman.sock',
      ],
    ],
    [
      'Windows',
      { platform: 'win32' },
      [
        'Docker: npipe:////./pipe/docker_engine',
        'Docker Desktop: npipe:////./pipe/dockerDesktopLinuxEngine',
        'Podman machine: npipe:////./pipe/podman-machine-default',
      ],
    ],
  ])('%s', (_, parts, expected) => {
    const places = placesToLook(undefined, machine(parts));
    expect(places.map(show)).toEqual(expected);
    expect(places.every(({ chosen }) => !chosen)).toBe(true);
  });

  test.each<[string, Parts]>([
    ['by its variable', { env: { WSL_DISTRO_NAME: 'Debian' } }],
    ['by its kernel', { files: { '/proc/version': 'Linux version 5.15.153.1-microsoft-standard-WSL2' } }],
  ])('WSL, known %s, has the engine of Windows too', (_, parts) => {
    expect(placesToLook(undefined, machine(parts)).map(show)).toContain(
      'Docker Desktop of Windows: unix:///mnt/wsl/docker-desktop/shared-sockets/guest-services/docker.proxy.sock',
    );
  });

  test('without XDG_RUNTIME_DIR it is the folder of the user', () => {
    const names = placesToLook('', machine({ uid: 1001 })).map(show);
    expect(names).toContain('rootless Podman: unix:///run/user/1001/podman/podman.sock');
  });
});

describe('what somebody chose is looked at alone, and goes in this order', () => {
  const contexts = {
    ...context('work', { Host: 'ssh://me@work' }),
    ...context('other', { Host: 'tcp://o:1' }),
  };
  test.each<[string, string | undefined, NodeJS.ProcessEnv, Record<string, string>, string]>([
    [
      'the setting',
      ' tcp://a:1 ',
      { DOCKER_HOST: 'tcp://b:2' },
      config('work'),
      'setting e2eSwe.dockerHost: tcp://a:1',
    ],
    ['a setting without a scheme', 'a:1', {}, {}, 'setting e2eSwe.dockerHost: tcp://a:1'],
    [
      'DOCKER_HOST',
      '  ',
      { DOCKER_HOST: ' tcp://b:2 ', DOCKER_CONTEXT: 'other' },
      config('work'),
      'DOCKER_HOST: tcp://b:2',
    ],
    [
      'DOCKER_CONTEXT',
      undefined,
      { DOCKER_CONTEXT: 'other' },
      config('work'),
      'Docker context "other": tcp://o:1',
    ],
    ['the context in force', undefined, {}, config('work'), 'Docker context "work": ssh://me@work'],
    [
      'a context by the setting',
      'context:other',
      {},
      config('work'),
      'setting e2eSwe.dockerHost, Docker context "other": tcp://o:1',
    ],
  ])('%s', (_, setting, env, files, expected) => {
    const places = placesToLook(setting, machine({ env, files: { ...contexts, ...files } }));
    expect(places.map(show)).toEqual([expected]);
    expect(places[0]?.chosen).toBe(true);
  });

  test.each<[string, NodeJS.ProcessEnv, Record<string, string>]>([
    ['the default context', { DOCKER_CONTEXT: 'default' }, config('work')],
    ['the default context in the file', {}, config('default')],
    ['a file that is no JSON', {}, { '/home/me/.docker/config.json': '{' }],
    ['a file with something else in it', {}, { '/home/me/.docker/config.json': '{"currentContext":7}' }],
  ])('%s is no choice', (_, env, files) => {
    expect(placesToLook('', machine({ env, files })).length).toBeGreaterThan(3);
  });

  test('DOCKER_CONFIG moves the docker command’s folder', () => {
    const files = {
      '/cfg/config.json': JSON.stringify({ currentContext: 'c' }),
      ...context('c', { Host: 'unix:///c.sock' }, [], '/cfg'),
    };
    const places = placesToLook('', machine({ env: { DOCKER_CONFIG: '/cfg' }, files }));
    expect(places.map(show)).toEqual(['Docker context "c": unix:///c.sock']);
  });

  test('a context of Windows is read by its own paths', () => {
    const folder = 'C:\\Users\\me\\.docker';
    const posix = context('desktop-linux', { Host: 'npipe:////./pipe/dockerDesktopLinuxEngine' }, [], folder);
    const files = Object.fromEntries(
      Object.entries({ ...posix, [`${folder}/config.json`]: '{"currentContext":"desktop-linux"}' }).map(
        ([name, content]) => [name.replaceAll('/', '\\'), content],
      ),
    );
    const [place] = placesToLook('', machine({ platform: 'win32', files }));
    expect(place).toMatchObject({ transport: { kind: 'socket', path: '//./pipe/dockerDesktopLinuxEngine' } });
  });
});

describe('a context', () => {
  const look = (files: Record<string, string>): Candidate | undefined =>
    placesToLook('context:c', machine({ files }))[0];

  test('brings its certificates, and its wish not to check', () => {
    const files = context('c', { Host: 'tcp://h:9' }, ['ca', 'cert', 'key']);
    expect(look(files)?.transport).toEqual({
      ...{ kind: 'tcp', host: 'h', port: '9' },
      tls: { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key'), verify: true },
    });
    expect(look(context('c', { Host: 'tcp://h:9', SkipTLSVerify: true }))?.transport).toMatchObject({
      tls: { verify: false },
    });
    expect(look(context('c', { Host: 'tcp://h:9' }))?.transport).toEqual({
      kind: 'tcp',
      host: 'h',
      port: '9',
    });
  });

  test('is not asked for TLS by the environment, as with the docker command', () => {
    const files = context('c', { Host: 'tcp://h:9' });
    const [place] = placesToLook('context:c', machine({ env: { DOCKER_TLS_VERIFY: '1' }, files }));
    expect(place?.transport).toEqual({ kind: 'tcp', host: 'h', port: '9' });
  });

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'is not there',
      {},
      /has no context "c": there is no \/home\/me\/.docker\/contexts\/meta\/[0-9a-f]{64}\/meta.json/,
    ],
    ['names no engine', context('c', {}), /context "c" names no engine/],
    ['names an address of another kind', context('c', { Host: 'fd://' }), /"fd:\/\/" \(context "c"\)/],
  ])('that %s stays chosen, with the reason', (_, files, says) => {
    const place = look(files);
    expect(place?.chosen).toBe(true);
    const problem = place?.transport;
    if (!(problem instanceof UserError)) throw new Error('It is said to be usable.');
    expect(problem.message).toMatch(says);
    expect(problem.nextStep).toBeTruthy();
  });
});

test('everything that may be chosen is listed once, with what the setting has to be', () => {
  const files = {
    ...config('work'),
    ...context('work', { Host: 'ssh://me@work' }),
    ...context('same', { Host: 'unix:///var/run/docker.sock' }),
    ...context('tls', { Host: 'tcp://h:9' }, ['ca']),
    ...context('plain', { Host: 'tcp://h:9' }),
  };
  const listed = listCandidates('tcp://h:9', machine({ uid: 0, files }));
  expect(listed.map(({ setting }) => setting)).toEqual([
    'tcp://h:9',
    'context:work',
    'unix:///var/run/docker.sock',
    'unix:///home/me/.docker/run/docker.sock',
    'unix:///home/me/.docker/desktop/docker.sock',
    'unix:///home/me/.rd/docker.sock',
    'unix:///home/me/.colima/default/docker.sock',
    'unix:///run/podman/podman.sock',
    'context:tls',
  ]);
});
