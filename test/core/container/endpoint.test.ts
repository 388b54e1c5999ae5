import { describe, expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { resolveEndpoints } from '#core/container/endpoint.ts';

const home = '/home/someone';

function addresses(options: Partial<Parameters<typeof resolveEndpoints>[0]>): string[] {
  return resolveEndpoints({ env: { HOME: home }, platform: 'linux', ...options }).map(
    ({ address }) => address,
  );
}

test.each<[platform: NodeJS.Platform, env: NodeJS.ProcessEnv, expected: readonly string[]]>([
  ['linux', { HOME: home }, ['unix:///var/run/docker.sock', `unix://${home}/.docker/run/docker.sock`]],
  [
    'linux',
    { HOME: home, XDG_RUNTIME_DIR: '/run/user/1000' },
    [
      'unix:///var/run/docker.sock',
      'unix:///run/user/1000/docker.sock',
      `unix://${home}/.docker/run/docker.sock`,
    ],
  ],
  ['darwin', { HOME: home }, ['unix:///var/run/docker.sock', `unix://${home}/.docker/run/docker.sock`]],
  ['win32', {}, ['npipe:////./pipe/docker_engine']],
])('the usual places on %s with %j', (platform, env, expected) => {
  expect(addresses({ platform, env })).toEqual(expected);
});

test.each<[NodeJS.Platform]>([['linux'], ['darwin'], ['win32']])(
  'a chosen address is the only one, on %s',
  (platform) => {
    expect(addresses({ platform, dockerHost: 'tcp://a:1', env: { DOCKER_HOST: 'tcp://b:2' } })).toEqual([
      'tcp://a:1',
    ]);
    expect(addresses({ platform, dockerHost: '  ', env: { DOCKER_HOST: ' tcp://b:2 ' } })).toEqual([
      'tcp://b:2',
    ]);
  },
);

describe('what the address becomes', () => {
  test.each<[address: string, env: NodeJS.ProcessEnv, options: Readonly<Record<string, unknown>>]>([
    ['unix:///run/x.sock', {}, { socketPath: '/run/x.sock' }],
    ['npipe:////./pipe/docker_engine', {}, { socketPath: '//./pipe/docker_engine' }],
    ['tcp://host:2375', {}, { host: 'host', port: '2375', protocol: 'http' }],
    ['tcp://host', {}, { host: 'host', port: '2375', protocol: 'http' }],
    ['http://host:99', {}, { host: 'host', port: '99', protocol: 'http' }],
    ['host:2375', {}, { host: 'host', port: '2375', protocol: 'http' }],
    ['tcp://host:2376', {}, { host: 'host', port: '2376', protocol: 'https' }],
    ['https://host', {}, { host: 'host', port: '2376', protocol: 'https' }],
    ['tcp://host:9', { DOCKER_TLS_VERIFY: '1' }, { host: 'host', port: '9', protocol: 'https' }],
    ['tcp://host:9', { DOCKER_TLS_VERIFY: 'yes' }, { host: 'host', port: '9', protocol: 'https' }],
    ['tcp://host:9', { DOCKER_TLS_VERIFY: '' }, { host: 'host', port: '9', protocol: 'http' }],
    ['tcp://[::1]:2375', {}, { host: '::1', port: '2375', protocol: 'http' }],
  ])('%s with %j', (address, env, options) => {
    const [endpoint] = resolveEndpoints({
      dockerHost: address,
      env: { HOME: '/none', ...env },
      platform: 'linux',
    });
    expect(endpoint?.options).toEqual(options);
  });

  test.each(['ssh://user@host', 'fd://', 'tcp://', 'tcp://a b:1', 'ftp://x'])(
    '%s cannot be used, and it says so',
    (address) => {
      const attempt = (): unknown => resolveEndpoints({ dockerHost: address, env: {}, platform: 'linux' });
      expect(attempt).toThrow(UserError);
      expect(attempt).toThrow(address);
    },
  );
});
