import { beforeEach, expect, test } from 'vitest';
import { corporaSetting } from '#vscode/settings/corpora.ts';
import { dockerHostSetting } from '#vscode/settings/dockerHost.ts';
import { showBundledTasksSetting } from '#vscode/settings/showBundledTasks.ts';
import { verifierTimeoutSetting } from '#vscode/settings/verifierTimeoutSeconds.ts';
import { fake } from '../fakes/vscode.ts';

beforeEach(() => fake.reset());

test('a value of the wrong shape counts as the default', () => {
  fake.set('e2eSwe.corpora', 'not a list');
  fake.set('e2eSwe.showBundledTasks', 'yes');
  fake.set('e2eSwe.verifierTimeoutSeconds', -5);
  fake.set('e2eSwe.dockerHost', 7);
  expect(corporaSetting.get()).toEqual([]);
  expect(showBundledTasksSetting.get()).toBe(true);
  expect(verifierTimeoutSetting.get()).toBe(0);
  expect(dockerHostSetting.get()).toBe('');
});

test('a list keeps what is a folder', () => {
  fake.set('e2eSwe.corpora', ['/a', 3, ' ', '/b']);
  expect(corporaSetting.get()).toEqual(['/a', '/b']);
});

test('updating writes where the value comes from', async () => {
  await corporaSetting.update(['/user']);
  expect(fake.settings.get('e2eSwe.corpora')).toEqual(['/user']);
  fake.workspaceSettings.set('e2eSwe.corpora', ['/here']);
  await corporaSetting.update(['/here', '/there']);
  expect(fake.workspaceSettings.get('e2eSwe.corpora')).toEqual(['/here', '/there']);
  expect(fake.settings.get('e2eSwe.corpora')).toEqual(['/user']);
});

test('a change is told with the new value, other settings are not', () => {
  const heard: unknown[] = [];
  const listening = dockerHostSetting.onDidChange((value) => heard.push(value));
  fake.set('e2eSwe.corpora', ['/a']);
  fake.set('e2eSwe.dockerHost', ' tcp://127.0.0.1:1 ');
  listening.dispose();
  fake.set('e2eSwe.dockerHost', 'ignored');
  expect(heard).toEqual(['tcp://127.0.0.1:1']);
});
