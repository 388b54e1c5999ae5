import { expect, test } from 'vitest';
import { createNotifier } from '#vscode/notify.ts';
import { replaceHostTerminals } from '#vscode/terminal/hostTerminals.ts';
import { fake, Uri } from '../fakes/vscode.ts';

const log = { trace: never, debug: never, info: never, warn: never, error: never };
function never(): void {}

/** Opens terminals of these kinds; what became of each. */
function openAll(...kinds: readonly object[]) {
  const seen: string[] = [];
  const listening = replaceHostTerminals({
    notifier: createNotifier(log),
    log,
    open: async () => void seen.push('container'),
  });
  for (const creationOptions of kinds)
    fake.terminalOpened.fire({ creationOptions, dispose: () => seen.push('disposed') });
  listening.dispose();
  return seen;
}

test('in the window of a workspace, a shell of this machine gives way to one of the container, and that is said once', () => {
  fake.reset();
  fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  expect(openAll({}, { shellPath: '/bin/bash' })).toEqual(['disposed', 'container', 'disposed', 'container']);
  expect(fake.messages).toHaveLength(1);
  expect(fake.messages[0]).toContain('run in the container');
});

test('what is ours, hidden, or asked for by name stays', () => {
  fake.reset();
  fake.workspaceFolders = [{ uri: new Uri('e2e-swe', '/one'), name: 'one' }];
  expect(
    openAll({ name: 'x', pty: {} }, { name: 'JavaScript Debug Terminal' }, { hideFromUser: true }),
  ).toEqual([]);
});

test('other windows keep their shells', () => {
  fake.reset();
  fake.workspaceFolders = [{ uri: Uri.file('/home'), name: 'home' }];
  expect(openAll({})).toEqual([]);
});
