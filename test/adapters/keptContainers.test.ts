import { expect, test } from 'vitest';
import { UserError } from '#core/base/errors.ts';
import { deleteGrade } from '#vscode/commands/deleteGrade.ts';
import { storedGradeCommands } from '#vscode/commands/storedGradeCommands.ts';
import type { GradeNode } from '#vscode/tree/nodes.ts';
import { fake } from '../fakes/vscode.ts';
import { makeAttempt } from './support/attempts.ts';
import { makeEntry, makeResult, makeTest } from './support/builders.ts';
import { gradesTo, makeWorld } from './support/world.ts';

const resolving = gradesTo((task) => makeResult(task, 'resolved', [makeTest('a', 'passed')]));

async function makeWindow() {
  const world = await makeWorld([makeEntry('/c/alpha')], resolving);
  const commands = storedGradeCommands(world);
  const gradeRow = async (): Promise<GradeNode> => {
    const [corpus] = await world.tree.getChildren();
    const [task] = await world.tree.getChildren(corpus);
    const row = (await world.tree.getChildren(task)).find((node): node is GradeNode => node.kind === 'grade');
    if (!row) throw new Error('There is no grade.');
    return row;
  };
  const gradeAndKeep = async (): Promise<GradeNode> => {
    fake.picks = ['Reference solution'];
    await commands['e2eSwe.gradeAndKeep']('/c/alpha');
    return gradeRow();
  };
  return { ...world, commands, gradeRow, gradeAndKeep };
}

test('grade and keep: the row says so, and a notification leads inside', async () => {
  const { gradeAndKeep, tree } = await makeWindow();
  const row = await gradeAndKeep();
  expect(tree.getTreeItem(row)).toMatchObject({
    contextValue: 'grade;kept',
    description: expect.stringMatching(/container kept$/),
  });
  expect(fake.messages.at(-1)).toBe(
    'info: The container of the grade is kept until you remove it or delete the grade. [Open shell]',
  );
});

test('a shell opens in it, and closes when an attempt at the task begins', async () => {
  const { gradeAndKeep, commands, room, attempts } = await makeWindow();
  const row = await gradeAndKeep();
  await commands['e2eSwe.openGradeShell'](row);
  expect(fake.terminals.map(({ name }) => name)).toEqual(['Grade of alpha']);
  room.add(makeAttempt('done', { state: 'submitted' }));
  await attempts.reload();
  await Promise.resolve();
  expect(fake.terminals).toHaveLength(1);
  room.add(makeAttempt('one', { state: 'preparing' }));
  await attempts.reload();
  await expect.poll(() => fake.terminals.length).toBe(0);
});

test('while an attempt at the task is under way nothing is kept and no shell opens', async () => {
  const { gradeAndKeep, commands, room } = await makeWindow();
  const row = await gradeAndKeep();
  room.add(makeAttempt('one', { state: 'ready' }));
  await expect(commands['e2eSwe.openGradeShell'](row)).rejects.toThrow('the attempt one at it has not ended');
  await expect(gradeAndKeep()).rejects.toThrow('the attempt one at it has not ended');
  expect(fake.terminals).toEqual([]);
  room.add(makeAttempt('one', { state: 'gave-up' }));
  await commands['e2eSwe.openGradeShell'](row);
  expect(fake.terminals).toHaveLength(1);
});

test('it goes by its own command, and with its grade; the palette offers only what was kept', async () => {
  const { gradeAndKeep, gradeRow, commands, tree, containers, ...world } = await makeWindow();
  await gradeAndKeep();
  fake.picks = ['Reference solution'];
  await commands['e2eSwe.removeKeptContainer']('/c/alpha');
  expect(containers.dirs.size).toBe(0);
  expect(fake.messages.at(-1)).toBe('info: The kept container of alpha was removed.');
  expect(tree.getTreeItem(await gradeRow()).contextValue).toBe('grade');
  await expect(commands['e2eSwe.openGradeShell']('/c/alpha')).rejects.toThrow(
    'No grade of this task has a kept container.',
  );
  const row = await gradeAndKeep();
  fake.answer = () => 'Delete';
  await deleteGrade(world)(row);
  expect(containers.dirs.size).toBe(0);
});

test('a grade with a kept container is not deleted while the engine does not answer; others are', async () => {
  const { gradeAndKeep, containers, kept, ...world } = await makeWindow();
  const row = await gradeAndKeep();
  fake.answer = () => 'Delete';
  containers.failure = new UserError('No container engine answers.');
  await expect(deleteGrade({ ...world, kept })(row)).rejects.toThrow('No container engine answers.');
  await kept.refresh();
  expect(kept.has(row.summary.dir)).toBe(false);
  await deleteGrade({ ...world, kept })(row);
});
