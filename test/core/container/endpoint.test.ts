import { describe, expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { parseAddress } from '#core/container/endpoint.ts';
import { machine } from './machine.ts';

describe('what an address becomes', () => {
  test.each<[address: string, env: NodeJS.ProcessEnv, transport: object]>([
    ['unix:///run/x.sock', {}, { kind: 'socket', path: '/run/x.sock' }],
    ['unix://', {}, { kind: 'socket', path: '/var/run/docker.sock' }],
    ['tcp://host:2375', {}, { kind: 'tcp', host: 'host', port: '2375' }],
    ['tcp://host', {}, { kind: 'tcp', host: 'host', port: '2375' }],
    ['http://host:99', {}, { kind: 'tcp', host: 'host', port: '99' }],
    ['http://host:80', {}, { kind: 'tcp', host: 'host', port: '80' }],
    ['host:2375', {}, { kind: 'tcp', host: 'host', port: '2375' }],
    ['tcp://[::1]:2375', {}, { kind: 'tcp', host: '::1', port: '2375' }],
    ['tcp://host:2376', {}, { kind: 'tcp', host: 'host', port: '2376', tls: { verify: true } }],
    ['https://host', {}, { kind: 'tcp', host: 'host', port: '2376', tls: { verify: true } }],
    [
      'tcp://host',
      { DOCKER_TLS_VERIFY: '1' },
      { kind: 'tcp', host: 'host', port: '2376', tls: { verify: true } },
    ],
    [
      'tcp://host:9',
      { DOCKER_TLS_VERIFY: '0' },
      { kind: 'tcp', host: 'host', port: '9', tls: { verify: true } },
    ],
    ['tcp://host:9', { DOCKER_TLS_VERIFY: '' }, { kind: 'tcp', host: 'host', port: '9' }],
    ['tcp://host:9', { DOCKER_TLS: '1' }, { kind: 'tcp', host: 'host', port: '9', tls: { verify: false } }],
    [
      'tcp://host:9',
      { DOCKER_TLS: '1', DOCKER_TLS_VERIFY: '1' },
      { kind: 'tcp', host: 'host', port: '9', tls: { verify: true } },
    ],
    ['ssh://host', {}, { kind: 'ssh', host: 'host' }],
    ['ssh://me@host:2222', {}, { kind: 'ssh', user: 'me', host: 'host', port: '2222' }],
    ['ssh://me@host:80/', {}, { kind: 'ssh', user: 'me', host: 'host', port: '80' }],
    ['ssh://host/run/my%20own.sock', {}, { kind: 'ssh', host: 'host', socket: '/run/my own.sock' }],
    ['ssh://me@[::1]/run/d.sock', {}, { kind: 'ssh', user: 'me', host: '::1', socket: '/run/d.sock' }],
  ])('%s with %j', (address, env, transport) => {
    expect(parseAddress(address, 'DOCKER_HOST', machine({ env }))).toEqual(transport);
  });

  test.each<[address: string, parsed: string]>([
    ['npipe:////./pipe/docker_engine', '//./pipe/docker_engine'],
    ['npipe://\\\\.\\pipe\\docker_engine', '//./pipe/docker_engine'],
    ['npipe://', '//./pipe/docker_engine'],
  ])('%s on Windows', (address, path) => {
    expect(parseAddress(address, 'DOCKER_HOST', machine({ platform: 'win32' }))).toEqual({
      kind: 'socket',
      path,
    });
  });

  test.each<[address: string, on: Parameters<typeof machine>[0], says: RegExp, next: RegExp]>([
    ['fd://', {}, /"fd" is no kind of engine address/, /unix:\/\//],
    ['ftp://x', {}, /"ftp" is no kind/, /unix:\/\//],
    ['tcp://', {}, /names no host/, /tcp:/],
    ['tcp://a b:1', {}, /names no host/, /tcp:/],
    ['ssh://', {}, /names no host/, /ssh:/],
    ['ssh://me:secret@host', {}, /holds a password/, /use a key/],
    ['ssh://host/run/x?y=1', {}, /behind its path/, /ssh:/],
    ['ssh://-oProxyCommand=x@host', {}, /for an option/, /ssh:/],
    ['ssh://-host', {}, /for an option/, /ssh:/],
    ['npipe:////./pipe/docker_engine', {}, /named pipes are of Windows/, /unix:/],
    [
      'npipe:////./pipe/docker_engine',
      { env: { WSL_DISTRO_NAME: 'Debian' } },
      /of Windows/,
      /WSL integration/,
    ],
    ['unix:///var/run/docker.sock', { platform: 'win32' }, /Windows has no such/, /npipe:/],
  ])('%s with %j cannot be used, and it says why', (address, on, says, next) => {
    let thrown: unknown;
    try {
      parseAddress(address, 'the origin', machine(on));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(UserError);
    const { message, nextStep } = thrown as UserError;
    expect(message).toContain(`"${address}" (the origin)`);
    expect(message).toMatch(says);
    expect(nextStep).toMatch(next);
  });
});

describe('certificates', () => {
  const pems = (folder: string, ...names: string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [`${folder}/${name}.pem`, name]));
  const read = (env: NodeJS.ProcessEnv, files: Record<string, string>): unknown =>
    parseAddress('tcp://h', 'DOCKER_HOST', machine({ env: { DOCKER_TLS_VERIFY: '1', ...env }, files }));

  test.each<[string, NodeJS.ProcessEnv, Record<string, string>]>([
    ['of DOCKER_CERT_PATH', { DOCKER_CERT_PATH: '/certs' }, pems('/certs', 'ca', 'cert', 'key')],
    ["of the docker command's folder", {}, pems('/home/me/.docker', 'ca', 'cert', 'key')],
    ['of DOCKER_CONFIG', { DOCKER_CONFIG: '/cfg' }, pems('/cfg', 'ca', 'cert', 'key')],
  ])('%s', (_, env, files) => {
    expect(read(env, files)).toMatchObject({
      tls: { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key'), verify: true },
    });
  });

  test('a file that is missing where one was named is told', () => {
    expect(() => read({ DOCKER_CERT_PATH: '/certs' }, {})).toThrow('/certs/ca.pem (DOCKER_CERT_PATH)');
    expect(() => read({}, pems('/home/me/.docker', 'ca', 'cert'))).toThrow('key.pem');
    expect(() => read({}, pems('/home/me/.docker', 'ca', 'key'))).toThrow('cert.pem');
    expect(read({}, {})).toEqual({ kind: 'tcp', host: 'h', port: '2376', tls: { verify: true } });
  });
});
