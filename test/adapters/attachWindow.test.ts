import { beforeEach, expect, test } from 'vitest';
import type { AttemptRecord } from '#core/attempt/types.ts';
import { CancelledError } from '#core/base/errors.ts';
import type { Finding } from '#core/container/bridgeRules.ts';
import { attachDetail } from '#vscode/attempts/attachWindow.ts';
import { bridgesSentence } from '#vscode/attempts/checkBridges.ts';
import { menuItems } from '#vscode/attempts/workspaceMenu.ts';
import type { TaskReader } from '#vscode/ports.ts';
import { registerWorkspace } from '#vscode/workspace/registerWorkspace.ts';
import { fake, Uri } from '../fakes/vscode.ts';
import { isolated, makeAttempt } from './support/attempts.ts';
import { graderOf, makeEntry } from './support/builders.ts';
import { makeWorld } from './support/world.ts';

const reader: TaskReader = {
  discover: async () => [makeEntry('/c/alpha')],
  find: async () => [],
  readSpec: async () => '# alpha\n',
};

async function makeWindow(record: AttemptRecord = makeAttempt('one'), hasDevContainers = false) {
  const world = await makeWorld([makeEntry('/c/alpha')], graderOf());
  fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  world.room.add(record);
  if (hasDevContainers) withDevContainers();
  const workspace = registerWorkspace({ ...world, reader });
  await workspace.sessions.get('one');
  return {
    ...world,
    attach: workspace.commands['e2eSwe.attachWindow'],
    check: workspace.commands['e2eSwe.checkBridges'],
  };
}

const withDevContainers = () => fake.extensions.add('ms-vscode-remote.remote-containers');
const opened = () => fake.executed.filter(([id]) => id === 'vscode.openFolder');

let answered: readonly string[] = [];
beforeEach(() => {
  answered = [];
});
/** Answers the modal question, which is the first one that offers to attach. */
function answer(choice: string | undefined) {
  fake.answer = (text, actions) => {
    if (!text.startsWith('Attach a window')) return undefined;
    answered = actions;
    return choice;
  };
}

test('without Dev Containers: one sentence on what to install, and a link that says that it is unverified', async () => {
  const { attach, room } = await makeWindow();
  fake.answer = (text) => (text.startsWith('To attach') ? 'Copy attach link (unverified)' : undefined);
  await attach();
  await expect.poll(() => fake.clipboard).toBe('vscode-remote://attached-container+7b7d/app');
  expect(fake.messages.find((text) => text.includes('To attach a window'))).toBe(
    'warning: To attach a window, install the extension Dev Containers (ms-vscode-remote.remote-containers) in VS Code for the desktop. [Find extension, Copy attach link (unverified)]',
  );
  expect(opened()).toEqual([]);
  expect((await room.read('one')).mode).toBe('attached');
});

test('without Dev Containers nothing is changed by asking alone', async () => {
  const { attach, room } = await makeWindow();
  await attach();
  expect(room.calls).not.toContain('attach one');
  expect((await room.read('one')).mode).toBe('channel');
});

test('a window attaches once the person said yes; settings that let something through are named and turned off', async () => {
  const { attach, room } = await makeWindow();
  withDevContainers();
  fake.declaredSettings.set('dev.containers.copyGitConfig', true).set('remote.autoForwardPorts', true);
  fake.settings.set('dev.containers.copyGitConfig', true).set('remote.autoForwardPorts', false);
  answer('Turn off and attach');
  room.warnings = ['The image x carries the label.'];
  await attach();
  expect(answered).toEqual(['Turn off and attach', 'Attach as it is']);
  expect(fake.settings.get('dev.containers.copyGitConfig')).toBe(false);
  expect(fake.settings.has('dev.containers.dockerCredentialHelper')).toBe(false);
  expect(opened().map(([, uri, options]) => [String(uri), options])).toEqual([
    ['vscode-remote://attached-container+7b7d/app', { forceNewWindow: true }],
  ]);
  expect(fake.messages.at(-1)).toMatch(
    /^info: The image x carries the label\. Once the attached window is ready/,
  );
});

test('the person’s settings stay where that is wanted, and nothing happens without a yes', async () => {
  const { attach, room } = await makeWindow();
  withDevContainers();
  fake.declaredSettings.set('dev.containers.copyGitConfig', true);
  fake.settings.set('dev.containers.copyGitConfig', true);
  answer(undefined);
  await expect(attach()).rejects.toBeInstanceOf(CancelledError);
  expect(room.calls).not.toContain('attach one');
  answer('Attach as it is');
  await attach();
  expect(fake.settings.get('dev.containers.copyGitConfig')).toBe(true);
  expect(opened()).toHaveLength(1);
});

test('where the settings are quiet there is nothing to turn off', async () => {
  const { attach } = await makeWindow();
  withDevContainers();
  answer('Attach');
  await attach();
  expect(answered).toEqual(['Attach']);
  expect(attachDetail([], false)).toContain('Your settings let no credentials and no ports through.');
  expect(attachDetail(['a.b'], true)).toMatch(
    /let credentials or ports through: a\.b\.[\s\S]*\(this window has one\)/,
  );
});

test('an attempt that is over is not attached to', async () => {
  const { attach } = await makeWindow(makeAttempt('one', { state: 'submitted' }));
  withDevContainers();
  await expect(async () => attach()).rejects.toThrow(
    'The workspace cannot be attached to: The attempt is submitted.',
  );
});

test('the banner offers the attached mode only where Dev Containers is', async () => {
  await makeWindow();
  await expect.poll(() => fake.messages.find((text) => text.includes('is offline'))).toBeDefined();
  expect(fake.messages.find((text) => text.includes('is offline'))).not.toContain('Attach window…');
});

test('the banner offers it there', async () => {
  await makeWindow(makeAttempt('one'), true);
  await expect
    .poll(() => fake.messages.find((text) => text.includes('is offline')))
    .toContain('Attach window…');
});

test('the menu: to attach, and to check once something was attached', () => {
  const labels = (record: AttemptRecord, readOnly?: string): string =>
    menuItems({ record, readOnly, frozen: undefined, isFrozenForGrade: false } as Parameters<
      typeof menuItems
    >[0])
      .map(({ label }) => label)
      .join();
  expect(labels(makeAttempt('one'))).toContain('Attach window…');
  expect(labels(makeAttempt('one'))).not.toContain('Check for bridges');
  expect(labels(makeAttempt('one', { mode: 'attached' }))).toMatch(/Attach window….*Check for bridges/);
  expect(labels(makeAttempt('one'), 'Another window works in this attempt.')).not.toContain('Attach window');
});

const finding = (kind: Finding['kind'], name: string, meaning = 'm', isBridge = true): Finding => ({
  ...{ kind, name, meaning, isBridge },
  canScrub: false,
});

test('a check scrubs, says what remains, and logs all of it', async () => {
  const { check, room } = await makeWindow();
  room.bridgeReport = {
    isolation: isolated,
    bridges: [finding('variable', 'SSH_AUTH_SOCK', 'keys')],
    notes: [
      finding('port', '127.0.0.1:80', 'forward', false),
      finding('editor server', '/root/x\n', 's', false),
    ],
    scrubbed: [finding('socket', '/tmp/a'), finding('socket', '/tmp/b')],
  };
  await check();
  expect(room.calls).toContain('bridges one scrub');
  expect(fake.messages.at(-1)).toBe(
    'warning: These ways out of the container remain: variable SSH_AUTH_SOCK (keys). Removed: 2; an attached window may make them again. It listens on 127.0.0.1:80. [Show log]',
  );
  expect(fake.channel.join('\n')).toContain('Found in the container: editor server /root/x\\n: s');
});

test('a check that finds nothing says by whose word', () => {
  const empty = { isolation: isolated, bridges: [], notes: [], scrubbed: [] };
  expect(bridgesSentence(empty)).toBe(
    'No way out of the container was found; it was asked itself, so a builder could hide one.',
  );
  const many = Array.from({ length: 9 }, (_, at) => finding('socket', `/tmp/${at}`));
  expect(bridgesSentence({ ...empty, bridges: many })).toMatch(/socket \/tmp\/5 \(m\) and 3 more\.$/);
  expect(
    bridgesSentence({ ...empty, isolation: { ...isolated, isIsolated: false, hasNoNetwork: false } }),
  ).toContain('it has a network');
});
