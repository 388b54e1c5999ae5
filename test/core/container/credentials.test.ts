import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findCredentials, registryOf } from '#core/container/credentials.ts';
import { tempFolder } from './tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
beforeEach(async () => {
  temp = await tempFolder();
  await mkdir(path.join(temp.dir, 'bin'));
});
afterEach(() => temp.remove());

const basic = Buffer.from('someone:pass:word').toString('base64');

async function find(registry: string, config: unknown): Promise<unknown> {
  await writeFile(
    path.join(temp.dir, 'config.json'),
    typeof config === 'string' ? config : JSON.stringify(config),
  );
  return findCredentials(registry, {
    DOCKER_CONFIG: temp.dir,
    PATH: `${path.join(temp.dir, 'bin')}:${process.env.PATH}`,
  });
}

/** A helper on the PATH that notes what it was asked and answers with some output. */
async function helper(name: string, output: string, exit = 0): Promise<void> {
  const file = path.join(temp.dir, 'bin', `docker-credential-${name}`);
  const asked = path.join(temp.dir, `${name}.asked`);
  await writeFile(
    file,
    `#!/bin/sh\nprintf '%s ' "$1" > '${asked}'\ncat >> '${asked}'\ncat <<'END'\n${output}\nEND\nexit ${exit}\n`,
  );
  await chmod(file, 0o755);
}

function asked(name: string): Promise<string> {
  return readFile(path.join(temp.dir, `${name}.asked`), 'utf8').catch(() => '');
}

test.each([
  ['debian', 'docker.io'],
  ['debian:12', 'docker.io'],
  ['library/debian', 'docker.io'],
  ['docker.io/library/debian', 'docker.io'],
  ['index.docker.io/library/debian', 'docker.io'],
  ['localhost/x', 'localhost'],
  ['localhost:5000/x:1', 'localhost:5000'],
  ['registry.example/x/y@sha256:00', 'registry.example'],
  ['[::1]:5000/x', '[::1]:5000'],
])('the registry of %s is %s', (reference, registry) => {
  expect(registryOf(reference)).toBe(registry);
});

describe('what the file holds', () => {
  const someone = { username: 'someone', password: 'pass:word' };
  test.each<[key: string, registry: string]>([
    ['registry.example', 'registry.example'],
    ['https://registry.example', 'registry.example'],
    ['https://registry.example/v1/', 'registry.example'],
    ['http://registry.example:5000/v2', 'registry.example:5000'],
    ['https://index.docker.io/v1/', 'docker.io'],
  ])('under the key %s for %s', async (key, registry) => {
    expect(await find(registry, { auths: { [key]: { auth: basic } } })).toMatchObject(someone);
  });

  test('an identity token goes before a name', async () => {
    const config = { auths: { 'r.example': { auth: basic, identitytoken: 'tok' } } };
    expect(await find('r.example', config)).toEqual({ identitytoken: 'tok', serveraddress: 'r.example' });
  });

  test('the default registry is called by its long address', async () => {
    const found = await find('docker.io', { auths: { 'https://index.docker.io/v1/': { auth: basic } } });
    expect(found).toEqual({ ...someone, serveraddress: 'https://index.docker.io/v1/' });
  });

  test.each<[what: string, config: unknown]>([
    ['another registry only', { auths: { 'other.example': { auth: basic } } }],
    ['an entry without a name', { auths: { 'r.example': {} } }],
    ['no entries', {}],
    ['no JSON', '{'],
    ['something else', '[1]'],
  ])('%s is none', async (_, config) => {
    expect(await find('r.example', config)).toBeUndefined();
  });

  test('no file is none; an empty DOCKER_CONFIG means the home folder', async () => {
    expect(await findCredentials('r.example', { HOME: temp.dir })).toBeUndefined();
    await mkdir(path.join(temp.dir, '.docker'));
    await writeFile(
      path.join(temp.dir, '.docker/config.json'),
      JSON.stringify({ auths: { 'r.example': { auth: basic } } }),
    );
    expect(await findCredentials('r.example', { HOME: temp.dir, DOCKER_CONFIG: '' })).toMatchObject(someone);
  });
});

describe.skipIf(process.platform === 'win32')('helpers', () => {
  const answer = JSON.stringify({ ServerURL: 'r.example', Username: 'u', Secret: 's' });

  test("a registry's own helper is asked, not the general one", async () => {
    await helper('mine', answer);
    await helper('general', '{"Username":"x","Secret":"y"}');
    const config = { credsStore: 'general', credHelpers: { 'r.example': 'mine' } };
    expect(await find('r.example', config)).toEqual({
      username: 'u',
      password: 's',
      serveraddress: 'r.example',
    });
    expect(await asked('mine')).toBe('get r.example');
    expect(await asked('general')).toBe('');
  });

  test('the general store; its user <token> means an identity token', async () => {
    await helper('general', '{"Username":"<token>","Secret":"tok"}');
    expect(await find('docker.io', { credsStore: 'general' })).toMatchObject({ identitytoken: 'tok' });
    expect(await asked('general')).toBe('get https://index.docker.io/v1/');
  });

  test.each<[what: string, output: string, exit: number]>([
    ['fails', 'credentials not found in native keychain', 1],
    ['answers with no JSON', 'hello', 0],
    ['answers with half of it', '{"Username":"u"}', 0],
  ])('one that %s counts as none, and the file is read', async (_, output, exit) => {
    await helper('bad', output, exit);
    const config = { credsStore: 'bad', auths: { 'r.example': { auth: basic } } };
    expect(await find('r.example', config)).toMatchObject({ username: 'someone' });
  });

  test('one that is not there counts as none', async () => {
    expect(await find('r.example', { credsStore: 'absent' })).toBeUndefined();
  });

  test('a name that is a path is not run', async () => {
    await helper('x', answer);
    expect(await find('r.example', { credsStore: '../bin/x' })).toBeUndefined();
    expect(await find('r.example', { credsStore: 'x; true' })).toBeUndefined();
    expect(await asked('x')).toBe('');
  });
});
