import { expect, test } from 'vitest';
import type * as vscode from 'vscode';
import type { CorpusNode, TaskNode } from '#vscode/tree/nodes.ts';
import { fake } from '../fakes/vscode.ts';
import { brokenEntry, graderOf, makeEntry, makeResult, makeTask, makeTest } from './support/builders.ts';
import { renderTree, trimmed } from './support/render.ts';
import { makeWorld } from './support/world.ts';

const brokenToml = {
  code: 'toml-syntax',
  severity: 'error',
  message: 'task.toml is no TOML: expected "=".',
  file: 'task.toml',
  line: 7,
  column: 3,
} as const;

test('corpora, tasks, grades, suites and tests as a person reads them', async () => {
  const world = await makeWorld(
    [
      makeEntry('/c/alpha'),
      {
        ...makeEntry('/c/beta', { metadata: {}, testCaseCount: 1 }),
        gradable: false,
        problems: [
          {
            code: 'unsupported-multi-step',
            severity: 'error',
            message: 'Tasks with steps cannot be graded yet.',
          },
        ],
      },
      brokenEntry('/c/gamma', brokenToml),
    ],
    graderOf(),
  );
  const task = makeTask('/c/alpha');
  world.store.add(
    makeResult(task, 'resolved', [makeTest('a', 'passed'), makeTest('b', 'passed'), makeTest('c', 'passed')]),
  );
  world.store.add(
    makeResult(
      task,
      'unresolved',
      [makeTest('a', 'passed'), makeTest('b', 'failed', { message: 'boom\nat line 2' })],
      {
        dir: '/store/grades/alpha/2',
        source: 'empty',
        explanation: { text: 'One hidden test failed.', nextStep: 'Open it in the Testing view.' },
        marks: [{ rule: 'emulated', message: 'The image ran emulated.' }],
      },
    ),
  );
  await world.grades.reload(task);
  expect(await renderTree(world.tree)).toBe(
    trimmed(`
      [folder-library] c — 3 tasks
        [error] alpha — python · query-engine · 3 tests
          [error] Empty workspace — 1 of 3 passed · TIME
            [info] One hidden test failed. — Open it in the Testing view.
            [error] 1 test not reported
            [warning] The image ran emulated. — emulated
            [error] suite — 1 of 2 not passed
              [error] test b — boom at line 2
              [pass] test a
          [pass] Reference solution — 3 of 3 passed · TIME
            [pass] suite — 3 tests
              [pass] test a
              [pass] test b
              [pass] test c
        [circle-slash] beta — 1 test · not gradable
          [error] Tasks with steps cannot be graded yet.
        [circle-slash] gamma — invalid
          [error] task.toml is no TOML: expected "=". — task.toml:7
    `),
  );
});

test('warnings are folded away below the grades', async () => {
  const warning = {
    code: 'deprecated',
    severity: 'warning',
    message: 'allow_internet is deprecated.',
  } as const;
  const world = await makeWorld([{ ...makeEntry('/c/a'), problems: [warning] }], graderOf());
  world.store.add(makeResult(makeTask('/c/a'), 'not graded', []));
  await world.grades.reload(makeTask('/c/a'));
  expect(await renderTree(world.tree)).toBe(
    trimmed(`
      [folder-library] c — 1 task
        [warning] a — python · query-engine · 3 tests
          [warning] Reference solution — not graded · TIME
          [warning] 1 warning
            [warning] allow_internet is deprecated.
    `),
  );
});

test('a problem opens its file at the line', async () => {
  const world = await makeWorld([brokenEntry('/c/gamma', brokenToml)], graderOf());
  const [corpus] = await world.tree.getChildren();
  const [task] = await world.tree.getChildren(corpus);
  const [problem] = await world.tree.getChildren(task);
  const command = problem && world.tree.getTreeItem(problem).command;
  expect(command?.command).toBe('vscode.open');
  const [uri, options] = (command?.arguments ?? []) as unknown as [
    vscode.Uri,
    vscode.TextDocumentShowOptions,
  ];
  expect(uri.fsPath).toBe('/c/gamma/task.toml');
  expect(options.selection?.start).toEqual({ line: 6, character: 2 });
});

test('a tooltip tells the facts, and cannot run commands', async () => {
  const world = await makeWorld(
    [makeEntry('/c/a', { metadata: { category: '[x](command:evil)' } })],
    graderOf(),
  );
  const [corpus] = await world.tree.getChildren();
  const [task] = await world.tree.getChildren(corpus);
  const tooltip = task && (world.tree.getTreeItem(task).tooltip as vscode.MarkdownString);
  expect(tooltip?.isTrusted).toBe(false);
  expect(tooltip?.value).toBe(
    `${trimmed(`
      **a**

      - State: never graded
      - Category: \\[x\\](command:evil)
      - Hidden tests expected: 3
      - Verifier time limit: 15 min 0 s
      - Limits: 2 CPUs, 2048 MiB memory
      - Verifier: separate
    `).replace('](command:evil)', ']\\(command:evil\\)')}\n`,
  );
});

test('a grade under way is a row of its own, and the icon of its task', async () => {
  const world = await makeWorld([makeEntry('/c/a')], graderOf());
  const task = makeTask('/c/a');
  const changed: unknown[] = [];
  world.tree.onDidChangeTreeData((node) => changed.push((node as TaskNode | undefined)?.id));
  let seen = '';
  await world.queue.run(
    task,
    { kind: 'folder', path: '/home/me/try' },
    new AbortController(),
    async (step) => {
      step('Running the hidden tests');
      seen = await renderTree(world.tree);
    },
  );
  expect(seen).toBe(
    trimmed(`
      [folder-library] c — 1 task
        [loading~spin] a — python · query-engine · 3 tests
          [loading~spin] Folder try — Running the hidden tests
    `),
  );
  expect(new Set(changed)).toEqual(new Set(['task:/c/a']));
});

test('verdicts come in after the rows', async () => {
  const world = await makeWorld([makeEntry('/c/a'), makeEntry('/c/b')], graderOf());
  world.store.add(makeResult(makeTask('/c/b'), 'not graded', [], { reason: 'engine-unavailable' }));
  const changed: unknown[] = [];
  world.tree.onDidChangeTreeData((node) => changed.push((node as TaskNode | undefined)?.entry.name));
  const [corpus] = await world.tree.getChildren();
  await world.tree.getChildren(corpus);
  await new Promise((resolve) => setImmediate(resolve));
  expect(changed).toEqual(['b']);
  expect(world.store.listed).toBe(2);
});

test('rows keep their identity, so that VS Code can find what changed', async () => {
  const world = await makeWorld([makeEntry('/c/a')], graderOf());
  const [corpus] = (await world.tree.getChildren()) as CorpusNode[];
  const [task] = await world.tree.getChildren(corpus);
  expect(world.tree.nodeOf({ path: '/c/a' })).toBe(task);
  expect(task && world.tree.getParent(task)).toBe(corpus);
});

test('a corpus without tasks, and one that is gone, say so', async () => {
  const world = await makeWorld([], graderOf());
  expect(await renderTree(world.tree)).toBe(
    trimmed(`
      [folder-library] c — 0 tasks
        [info] No task folders here: a task has a task.toml file.
    `),
  );
  expect(fake.channel.at(-1)).toBe('info Found 0 task folders in 1 corpora.');
});

test('a stored grade that cannot be read is a note, not an error', async () => {
  const world = await makeWorld([makeEntry('/c/a')], graderOf());
  const result = makeResult(makeTask('/c/a'), 'resolved', []);
  world.store.add(result);
  const [corpus] = await world.tree.getChildren();
  const [task] = await world.tree.getChildren(corpus);
  const [grade] = await world.tree.getChildren(task);
  world.store.results.clear();
  const [note] = await world.tree.getChildren(grade);
  expect(note?.kind === 'note' && note.text).toBe('The grade cannot be read: no grade in /store/grades/a/1');
});
