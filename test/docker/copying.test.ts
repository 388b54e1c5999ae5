import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { chmod, link, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContainerEngine } from '#core/container/engine.ts';
import type { GradeResult, SubmissionSource } from '#core/grading/types.ts';
import type { Task } from '#core/task/types.ts';
import { fileEntry, pack, plainEntry } from '../core/container/tarTools.ts';
import { makeHostileTree } from '../fixtures/container/hostileTree.ts';
import { shellDockerfile, writeReport } from '../fixtures/tasks/makeTask.ts';
import { kept, Lab, rules } from './support.ts';

let lab: Lab;
/** Lists what is in the workdir, in find's words. */
let listing: Task;
const passing = writeReport({ first: 'passed', second: 'passed' }, 1);
const separate = 'environment_mode = "separate"\ntimeout_sec = 60.0\ntest_case_count = 2';
const listScript = `#!/bin/bash
find . -mindepth 1 -printf '%P|%y|%m|%U|%G|%n|%T@|%l\\0' | sort -z > /logs/verifier/list.txt
${passing}`;

beforeAll(async () => {
  lab = await Lab.open();
  listing = await lab.task({ testScript: listScript });
});
afterAll(() => lab.dispose());

/** Grades on an engine that copies nothing in itself: what arrives went through the image's own tar. */
function gradeByTar(task: Task, source: SubmissionSource): Promise<GradeResult> {
  const createContainer: ContainerEngine['createContainer'] = async (spec, signal) => ({
    ...(await lab.engine.createContainer(spec, signal)),
    putArchive: () => Promise.reject(new Error('The engine was asked to copy in.')),
  });
  const engine = Object.assign(Object.create(lab.engine) as ContainerEngine, { createContainer });
  return lab.grade(task, source, {}, undefined, undefined, engine);
}

/** Entries by name (bytes as latin1). */
function entries(list: string): Map<string, string[]> {
  return new Map(
    list
      .split('\0')
      .filter(Boolean)
      .map((row) => {
        const [name = '', ...rest] = row.split('|');
        return [name, rest];
      }),
  );
}

describe.skipIf(process.platform === 'win32')('what arrives', () => {
  test('modes with setuid, times, both kinds of links, empty folders', async () => {
    const folder = await lab.workspace({ 'ok.txt': 'ok', tool: '#!/bin/sh\n', 'd/inner': 'x' });
    const tool = path.join(folder, 'tool');
    await link(tool, path.join(folder, 'tool2'));
    await chmod(tool, 0o4751);
    await utimes(tool, 1_111_111_111, 1_222_222_222);
    await symlink('../../outside', path.join(folder, 'd/up'));
    await symlink('/etc/passwd', path.join(folder, 'abs'));
    await mkdir(path.join(folder, 'empty'), { mode: 0o700 });
    await chmod(path.join(folder, 'empty'), 0o1700);
    const result = await gradeByTar(listing, { kind: 'folder', path: folder });
    expect(result).toMatchObject({ verdict: 'resolved', evidence: { arrival: { differing: [] } } });
    const found = entries(kept(result, 'list.txt'));
    expect(found.get('tool')).toEqual(['f', '4751', '0', '0', '2', '1222222222.0000000000', '']);
    expect(found.get('tool2')?.slice(0, 5)).toEqual(['f', '4751', '0', '0', '2']);
    expect(found.get('d/up')?.at(-1)).toBe('../../outside');
    expect(found.get('abs')?.at(-1)).toBe('/etc/passwd');
    expect(found.get('empty')?.slice(0, 2)).toEqual(['d', '1700']);
  });

  test('a workspace of hostile files: kept or skipped as they are, with what was skipped', async () => {
    const folder = path.join(lab.dir, 'hostile');
    await mkdir(folder);
    const { socket } = await makeHostileTree(folder);
    const result = await gradeByTar(listing, { kind: 'folder', path: folder });
    expect(result).toMatchObject({ verdict: 'resolved', evidence: { arrival: { differing: [] } } });
    expect(result.evidence.submission?.skipped).toHaveLength(socket ? 2 : 1);
    expect(rules(result)).toContain('entries-skipped');
    const list = execFileSync('cat', [path.join(result.dir, 'verifier/list.txt')], { encoding: 'latin1' });
    const found = entries(list);
    expect(found.get('caf\xe9.txt')?.[0]).toBe('f');
    expect(found.get('line\nbreak')?.[0]).toBe('f');
    expect(found.get('secret')?.slice(0, 2)).toEqual(['f', '0']);
    expect(found.get('loop')?.at(-1)).toBe('loop');
    expect(found.get('hard')?.[4]).toBe('2');
    expect(found.has(`${'d/'.repeat(199)}d`)).toBe(true);
    expect([...found.keys()].some((name) => name.startsWith('up/'))).toBe(false);
  });

  test('the longest names and paths, a thousand levels, times before 1970 and after 2262', async () => {
    const entries = [
      fileEntry('ok.txt', 'ok'),
      fileEntry('\xe9'.repeat(255), 'x', { mtime: -5 }),
      fileEntry(`${`${'p'.repeat(255)}/`.repeat(15)}${'q'.repeat(250)}`, 'x', { mtime: 2 ** 40 }),
      fileEntry(`${'d/'.repeat(1000)}f`, 'x'),
      plainEntry({ type: 'symlink', name: 'l', linkName: 'x'.repeat(4095) }),
    ];
    const file = path.join(lab.dir, 'extreme.tar');
    await writeFile(file, await pack(entries));
    // The longest path that Linux opens: with "/app/" in front and a NUL behind.
    expect('/app/'.length + (entries[2]?.header.name.length ?? 0) + 1).toBe(4096);
    const result = await gradeByTar(listing, { kind: 'tar', path: file });
    expect(result).toMatchObject({ verdict: 'resolved', evidence: { arrival: { differing: [] } } });
  });

  test('a file that changes while the folder is read: not graded, with what to do', async () => {
    const folder = await lab.workspace({ a: '' });
    await writeFile(path.join(folder, 'a'), Buffer.alloc(100_000_000, 'x'));
    const writer = setInterval(() => appendFileSync(path.join(folder, 'a'), 'y'), 2);
    try {
      const result = await lab.grade(listing, { kind: 'folder', path: folder });
      expect(result).toMatchObject({
        verdict: 'not graded',
        reason: 'submission-changed',
        explanation: { cause: 'submission', nextStep: expect.stringContaining('Stop what writes') },
      });
      expect(result.explanation?.text).toBe('"a" changed while it was being read.');
    } finally {
      clearInterval(writer);
    }
  });

  test.skipIf(process.getuid?.() !== 0)(
    "foreign owners become the verifier's, so that git does not refuse",
    async () => {
      const folder = await lab.workspace({ 'ok.txt': 'ok', '.git/HEAD': 'ref: refs/heads/main\n' });
      execFileSync('chown', ['-R', '1001:1002', folder]);
      const owned = entries(kept(await gradeByTar(listing, { kind: 'folder', path: folder }), 'list.txt'));
      expect([...owned.values()].map((entry) => entry.slice(2, 4).join(':'))).toEqual(['0:0', '0:0', '0:0']);
    },
  );

  test('a [verifier].user owns the workspace', async () => {
    const asUser = await lab.task({ verifier: `${separate}\nuser = 1234`, testScript: listScript });
    const result = await gradeByTar(asUser, { kind: 'folder', path: await lab.workspace() });
    expect(result.verdict).toBe('resolved');
    expect(entries(kept(result, 'list.txt')).get('ok.txt')?.slice(2, 3)).toEqual(['1234']);
  });

  test.each([
    ['without tar', 'RUN rm /bin/tar\n'],
    ['whose tar is not GNU tar', 'RUN printf "#!/bin/sh\\nexit 0\\n" > /bin/tar\n'],
    [
      'whose tar stops half-way',
      'RUN mv /bin/tar /bin/tar2 && printf "#!/bin/sh\\nhead -c 1024 | tar2 -x -C /\\n" > /bin/tar && chmod 755 /bin/tar\n',
    ],
    [
      'with a workdir that is not empty, and tests that are in the way',
      'RUN mkdir -p /tests/test.sh/deep old/deep "$(printf new\\\\nline)" && ln -s /etc .hidden && echo x > old/x\n',
    ],
  ])('an image %s gets the same', async (name, lines) => {
    const image = await lab.task(
      { dockerfile: `${shellDockerfile}${lines}`, testScript: listScript },
      `${name.replaceAll(/\W+/g, '-')}-task`,
    );
    const result = await lab.gradeFolder(image, { 'ok.txt': 'ok', 'd/e/f': 'x' });
    expect(result).toMatchObject({
      verdict: 'resolved',
      evidence: { arrival: { checked: 5, differing: [] }, processesLeft: [] },
    });
    expect([...entries(kept(result, 'list.txt')).keys()].sort()).toEqual(['d', 'd/e', 'd/e/f', 'ok.txt']);
  });

  test('an image without GNU find is checked all the same', async () => {
    const bare = await lab.task({ dockerfile: `${shellDockerfile}RUN rm /usr/bin/find\n` }, 'bare-task');
    const result = await lab.gradeFolder(bare, { 'ok.txt': 'ok', 'd/e/f': 'x' });
    expect(result).toMatchObject({
      verdict: 'resolved',
      evidence: { arrival: { checked: 5, differing: [] } },
    });
  });
});

describe('a tar', () => {
  test.each<[layout: string, args: readonly string[]]>([
    ['of the content', ['-cf', 'x.tar', '-C', 'ws', '.']],
    ['of the content, gzipped', ['-czf', 'x.tar', '-C', 'ws', '.']],
    ['with "app" in front, in PAX', ['-cf', 'x.tar', '--format=posix', '--transform', 's,^ws,app,rhS', 'ws']],
    ['with "/app" in front', ['-Pcf', 'x.tar', '--transform', 's,^ws,/app,rhS', 'ws']],
  ])('%s', async (_, args) => {
    const dir = path.join(lab.dir, `tar${_.length}`);
    await mkdir(path.join(dir, 'ws'), { recursive: true });
    await writeFile(path.join(dir, 'ws/ok.txt'), 'ok');
    await link(path.join(dir, 'ws/ok.txt'), path.join(dir, 'ws/z'));
    execFileSync('tar', [...args], { cwd: dir });
    const result = await lab.grade(listing, { kind: 'tar', path: path.join(dir, 'x.tar') });
    expect(result).toMatchObject({ verdict: 'resolved', evidence: { source: 'tar' } });
    const found = entries(kept(result, 'list.txt'));
    expect([...found.keys()]).toEqual(['ok.txt', 'z']);
    expect(found.get('z')?.[4]).toBe('2');
  });

  test('the submission that a grade kept is graded again to the same digest', async () => {
    const first = await lab.gradeFolder(listing);
    const second = await lab.grade(listing, { kind: 'tar', path: path.join(first.dir, 'submission.tar.gz') });
    expect(second.evidence.submission?.sha256).toBe(first.evidence.submission?.sha256);
    expect(second.verdict).toBe('resolved');
  });

  test('with a member that would leave the workdir is refused before a container is made', async () => {
    const file = path.join(lab.dir, 'evil.tar');
    await writeFile(path.join(lab.dir, 'evil'), 'x');
    execFileSync('tar', ['-Pcf', file, '--transform', 's,^evil,../../tests/test.sh,', 'evil'], {
      cwd: lab.dir,
    });
    const result = await lab.grade(listing, { kind: 'tar', path: file });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'submission-refused' });
    expect(result.explanation?.text).toContain('../../tests/test.sh');
  });
});

describe('artifacts', () => {
  test('beside the workdir come from the solution, and replace what the image has there', async () => {
    const dockerfile = `${shellDockerfile}RUN mkdir -p /srv/data && echo old > /srv/data/old\n`;
    const two = await lab.task(
      {
        dockerfile,
        artifacts: ['/app', '/srv/data', '/srv/file.txt'],
        solution:
          '#!/bin/bash\necho ok > ok.txt; rm /srv/data/old; echo new > /srv/data/new; echo f > /srv/file.txt\n',
        testScript: `#!/bin/bash\nls /srv/data /srv/file.txt; cat /srv/file.txt\n${passing}`,
      },
      'artifact-task',
    );
    const result = await lab.grade(two, { kind: 'solution' });
    expect(result.verdict).toBe('resolved');
    expect(kept(result, 'test-stdout.txt')).toBe('/srv/file.txt\n\n/srv/data:\nnew\nf\n');
    expect(await lab.gradeFolder(two)).toMatchObject({ verdict: 'not graded', reason: 'artifact-missing' });
  });

  test("a solution that deletes the workdir does not get the image's own", async () => {
    const dockerfile = `${shellDockerfile}RUN echo ok > ok.txt\n`;
    const task = await lab.task(
      { dockerfile, solution: '#!/bin/bash\ncd /; rm -rf /app\n' },
      'deleting-task',
    );
    expect(await lab.grade(task, { kind: 'solution' })).toMatchObject({
      verdict: 'not graded',
      reason: 'artifact-missing',
    });
  });

  test('an image without a WORKDIR is graded by its declared artifact', async () => {
    const rootless = await lab.task(
      {
        dockerfile: 'FROM debian:bookworm-slim\n',
        testScript: `#!/bin/bash\npwd; cat /app/ok.txt\n${passing}`,
      },
      'no-workdir-task',
    );
    const result = await lab.gradeFolder(rootless, { 'ok.txt': 'ok\n' });
    expect(result.verdict).toBe('resolved');
    expect(kept(result, 'test-stdout.txt')).toBe('/\nok\n');
  });
});
