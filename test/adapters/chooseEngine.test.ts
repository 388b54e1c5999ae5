import { beforeEach, expect, test } from 'vitest';
import { CancelledError } from '#core/base/errors.ts';
import type { EngineChoice } from '#core/container/connect.ts';
import { chooseEngine, engineItems } from '#vscode/commands/chooseEngine.ts';
import { dockerHostSetting } from '#vscode/settings/dockerHost.ts';
import { fake } from '../fakes/vscode.ts';

const podman: EngineChoice = {
  name: 'rootless Podman',
  address: 'unix:///run/user/1000/podman/podman.sock',
  setting: 'unix:///run/user/1000/podman/podman.sock',
  inUse: false,
  info: {
    ...{
      id: '',
      product: 'Podman',
      version: '4.9.3',
      os: 'linux',
      arch: 'arm64',
      cpus: 8,
      memoryBytes: 2 ** 33,
    },
    ...{ address: 'x', rootDir: '', buildKit: false, rootless: true, cgroup: 2, unenforced: ['cpus'] },
  },
};
const docker: EngineChoice = {
  name: 'Docker context "work"',
  address: 'ssh://me@work',
  setting: 'context:work',
  inUse: true,
  problem: 'work refuses the log-in by ssh (Permission denied).',
  nextStep: 'Make "ssh me@work" work without a password.',
};

beforeEach(() => fake.reset());

test('every engine is shown with its version, or with why it does not answer', () => {
  const shown = engineItems([docker, podman]).map(({ label, description, detail }) =>
    [label, description, detail].filter(Boolean).join(' | '),
  );
  expect(shown).toEqual([
    'Answering',
    '$(vm-running) Podman 4.9.3 | unix:///run/user/1000/podman/podman.sock | rootless Podman · linux/arm64 · 8 CPUs · 8.0 GiB memory · rootless · cannot limit cpus',
    'Without a choice',
    expect.stringContaining('Find one automatically'),
    'Not answering',
    '$(error) Docker context "work" | ssh://me@work | Chosen · work refuses the log-in by ssh (Permission denied). · Make "ssh me@work" work without a password.',
  ]);
  expect(engineItems([{ ...podman, inUse: true }])[1]?.label).toBe('$(check) Podman 4.9.3');
  expect(engineItems([])).toHaveLength(2);
});

test.each<[label: string, setting: string]>([
  ['$(vm-running) Podman 4.9.3', podman.setting],
  ['$(error) Docker context "work"', 'context:work'],
  ['$(wand) Find one automatically', ''],
])('picking %s makes it the setting, which is then tried', async (label, setting) => {
  fake.set('e2eSwe.dockerHost', 'tcp://before:1');
  fake.picks = [label];
  const tried: string[] = [];
  const command = chooseEngine({
    listEngines: async () => [docker, podman],
    checkEngine: () => tried.push(dockerHostSetting.get()),
  });
  await command();
  expect(tried).toEqual([setting]);
});

test('without a pick nothing changes', async () => {
  fake.set('e2eSwe.dockerHost', 'tcp://before:1');
  const command = chooseEngine({
    listEngines: async () => [docker],
    checkEngine: () => expect.unreachable(),
  });
  await expect(command()).rejects.toThrow(CancelledError);
  expect(dockerHostSetting.get()).toBe('tcp://before:1');
});
