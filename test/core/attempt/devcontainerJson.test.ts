import { expect, test } from 'vitest';
import { attachUri } from '#core/attempt/attachUri.ts';
import {
  attachedContainerJson,
  type DevcontainerParts,
  devcontainerJson,
} from '#core/attempt/devcontainerJson.ts';
import { UserError } from '#core/base/errors.ts';
import type { ContainerSpec } from '#core/container/engine.ts';

const plan: ContainerSpec = {
  name: 'e2e-swe-workspace-abc123',
  image: 'sha256:1',
  command: ['sleep', 'infinity'],
  labels: {
    'dev.e2e-swe.workbench': 'workspace',
    'dev.e2e-swe.workbench.attempt': 'abc123',
    'dev.e2e-swe.workbench.task': `a \${localEnv:HOME} task`,
    'dev.e2e-swe.workbench.owner': 'host|1|2',
    'devcontainer.metadata': '[]',
  },
  network: 'none',
  cpus: 1.5,
  memoryMb: 512,
  pidsLimit: 4096,
  capabilities: ['CHOWN', 'KILL'],
  noNewPrivileges: true,
  init: true,
  noSwap: true,
};

const parts = (more: Partial<DevcontainerParts> = {}): DevcontainerParts => ({
  plan,
  volume: 'e2e-swe-workspace-abc123',
  workdir: '/app',
  taskName: `a \${localEnv:HOME} task`,
  image: 'sha256:1',
  user: 'builder',
  env: {},
  ...more,
});

test('the same container as ours, and nothing of the host', () => {
  expect(devcontainerJson(parts())).toEqual({
    name: 'E2E-SWE: a $ {localEnv:HOME} task',
    image: 'sha256:1',
    workspaceMount: 'type=volume,source=e2e-swe-workspace-abc123,target=/app,volume-nocopy=true',
    workspaceFolder: '/app',
    runArgs: [
      '--name=e2e-swe-workspace-abc123',
      '--network=none',
      '--cap-drop=ALL',
      '--cap-add=CHOWN',
      '--cap-add=KILL',
      '--security-opt=no-new-privileges',
      '--pids-limit=4096',
      '--cpus=1.5',
      '--memory=512m',
      '--memory-swap=512m',
      '--ipc=private',
      '--log-driver=none',
      '--ulimit=core=0:0',
      '--label=dev.e2e-swe.workbench=workspace',
      '--label=dev.e2e-swe.workbench.attempt=abc123',
      '--label=dev.e2e-swe.workbench.task=a $ {localEnv:HOME} task',
    ],
    init: true,
    containerEnv: {},
    remoteUser: 'builder',
    updateRemoteUserUID: false,
    userEnvProbe: 'none',
    shutdownAction: 'none',
    remoteEnv: { SSH_AUTH_SOCK: '', GPG_AGENT_INFO: '' },
    forwardPorts: [],
    otherPortsAttributes: { onAutoForward: 'ignore' },
    customizations: {
      vscode: {
        extensions: [],
        settings: {
          'dev.containers.copyGitConfig': false,
          'dev.containers.gitCredentialHelperConfigLocation': 'none',
          'dev.containers.dockerCredentialHelper': false,
          'dev.containers.githubCLILoginWithToken': false,
          'dev.containers.forwardWSLServices': false,
          'dev.containers.mountWaylandSocket': false,
          'git.terminalAuthentication': false,
          'remote.autoForwardPorts': false,
          'remote.restoreForwardedPorts': false,
        },
      },
    },
  });
});

test('a network that the runtime makes is written as none: a command has no other word for it', () => {
  const bare = { ...plan, network: { hosts: '', resolvConf: '', ipv6: undefined } };
  expect(devcontainerJson(parts({ plan: bare }))).toEqual(devcontainerJson(parts()));
});

test('no limit where the task has none', () => {
  const { runArgs } = devcontainerJson(parts({ plan: { ...plan, cpus: null, memoryMb: null } }));
  expect(JSON.stringify(runArgs)).not.toMatch(/cpus|memory/);
});

test('a host variable that was allowed stays a reference, never a value', () => {
  const env = { PLAIN: 'a=b c', WANTED: `\${HOST_ONE}`, WITH: `\${HOST_TWO:-four}` };
  expect(devcontainerJson(parts({ env })).containerEnv).toEqual({
    PLAIN: 'a=b c',
    WANTED: `\${localEnv:HOST_ONE}`,
    WITH: `\${localEnv:HOST_TWO:four}`,
  });
});

test.each([
  ['a value that reads the host', parts({ env: { X: `a \${localEnv:AWS_SECRET_ACCESS_KEY}` } })],
  ['a fallback that does', parts({ env: { X: `\${Y:-\${localEnv:SECRET}}` } })],
  ['a fallback with a colon', parts({ env: { X: `\${Y:-a:b}` } })],
  ['a workdir that reads the host', parts({ workdir: `/a\${localEnv:HOME}` })],
  ['a workdir with a further option', parts({ workdir: '/app,readonly' })],
])('%s is refused', (_what, bad) => {
  expect(() => devcontainerJson(bad)).toThrow(UserError);
  expect(() => devcontainerJson(bad)).toThrow(/cannot be written in a devcontainer.json/);
});

test('the configuration for an attached container has documented keys only', () => {
  expect(Object.keys(attachedContainerJson({ workdir: '/app', user: '1000' })).sort()).toEqual([
    'extensions',
    'forwardPorts',
    'otherPortsAttributes',
    'remoteEnv',
    'remoteUser',
    'settings',
    'userEnvProbe',
    'workspaceFolder',
  ]);
});

test('the address of a running container', () => {
  const uri = attachUri('e2e-swe-workspace-abc123', '/app/a b%');
  const [, hex = '', folder] = /^vscode-remote:\/\/attached-container\+([0-9a-f]+)(\/.*)$/.exec(uri) ?? [];
  expect(Buffer.from(hex, 'hex').toString()).toBe('{"containerName":"/e2e-swe-workspace-abc123"}');
  expect(folder).toBe('/app/a%20b%25');
});

test('where no AI may help, an attached window has it off too', () => {
  const off = { settings: { 'chat.disableAIFeatures': true, 'editor.inlineSuggest.enabled': false } };
  const made = devcontainerJson(parts({ isWithoutAi: true }));
  expect(made.customizations).toMatchObject({ vscode: off });
  expect(attachedContainerJson(parts({ isWithoutAi: true }))).toMatchObject(off);
  expect(attachedContainerJson(parts()).settings).not.toHaveProperty('chat.disableAIFeatures');
});
