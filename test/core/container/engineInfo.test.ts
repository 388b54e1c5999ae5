import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EngineError } from '#core/container/engine.ts';
import { readEngineInfo } from '#core/container/engineInfo.ts';

type Recorded = Record<'info' | 'version', Record<string, unknown>>;

function recorded(name: string): Recorded {
  const file = new URL(`../../fixtures/container/engines/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded;
}

test.each<[string, object]>([
  [
    'docker-20-cgroup1',
    {
      product: 'Docker',
      version: '20.10.24+dfsg1',
      cgroup: 1,
      rootless: false,
      unenforced: [],
      buildKit: false,
    },
  ],
  ['docker-28-cgroup2', { product: 'Docker', cgroup: 2, rootless: false, unenforced: [], buildKit: true }],
  [
    'docker-rootless-cgroup2-delegated',
    { cgroup: 2, rootless: true, unenforced: ['cpus'], id: '5f1c0d5e-8f0c-4b0e-9d63-0d6a3f9a8c11' },
  ],
  ['docker-rootless-no-systemd', { cgroup: 2, rootless: true, unenforced: ['cpus', 'memory', 'pids'] }],
  ['docker-rootless-cgroup1', { cgroup: 1, rootless: true, unenforced: ['cpus', 'memory', 'pids'] }],
  [
    'podman-4-cgroup1',
    { id: '', product: 'Podman', version: '4.3.1', cgroup: 1, buildKit: false, unenforced: [] },
  ],
  [
    'podman-5-rootless-cgroup2',
    { product: 'Podman', cgroup: 2, rootless: true, buildKit: false, unenforced: ['cpus'] },
  ],
])('%s', (name, expected) => {
  const { info, version } = recorded(name);
  expect(readEngineInfo(info, version, 'unix:///x')).toMatchObject({
    ...expected,
    address: 'unix:///x',
    os: 'linux',
  });
});

test('an engine that says nothing of a limit is taken to have it', () => {
  const { info, version } = recorded('docker-28-cgroup2');
  const { MemoryLimit, CpuCfsQuota, CpuCfsPeriod, PidsLimit, CgroupVersion, ...rest } = info;
  expect(readEngineInfo(rest, version, 'x')).toMatchObject({ cgroup: null, unenforced: [] });
});

test.each<[unknown, unknown]>([
  [Buffer.from('hello'), {}],
  [{}, {}],
  [{ NCPU: 2, MemTotal: 1 }, { Version: 7 }],
])('%j is no engine', (info, version) => {
  expect(() => readEngineInfo(info, version, 'tcp://x')).toThrow(EngineError);
  expect(() => readEngineInfo(info, version, 'tcp://x')).toThrow('tcp://x');
});
