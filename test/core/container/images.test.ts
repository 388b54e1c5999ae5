import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CancelledError } from '#core/base/errors.ts';
import { nullLog } from '#core/base/log.ts';
import { withDefaultTag } from '#core/container/dockerEngine.ts';
import { ensureImage, type ImagePlan, imageTag } from '#core/container/images.ts';
import { FakeEngine } from '../../fakes/engine.ts';
import { tempFolder } from './tarTools.ts';

let temp: Awaited<ReturnType<typeof tempFolder>>;
beforeEach(async () => {
  temp = await tempFolder();
});
afterEach(() => temp.remove());

const options = { onProgress: () => undefined, log: nullLog };

async function context(files: Readonly<Record<string, string>>): Promise<ImagePlan & { kind: 'build' }> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(temp.dir, name)), { recursive: true });
    await writeFile(path.join(temp.dir, name), content);
  }
  return { kind: 'build', context: temp.dir, name: 'A Task', environmentId: 'abc', timeoutSec: 60 };
}

async function build(
  files: Readonly<Record<string, string>>,
  engine = new FakeEngine(),
): Promise<FakeEngine> {
  await ensureImage(engine, await context(files), options);
  return engine;
}

const dockerfileOf = (engine: FakeEngine): string | undefined =>
  engine.context.get('Dockerfile')?.data.toString();

test('an image that is there is taken, and no registry is asked', async () => {
  const engine = new FakeEngine();
  const image = await ensureImage(engine, { kind: 'reference', reference: 'r.example/x' }, options);
  expect(image.reference).toBe('r.example/x');
  expect(engine.calls).toEqual(['inspectImage']);
});

test('built once, and found again by what it was built from', async () => {
  const engine = new FakeEngine();
  const plan = await context({ Dockerfile: 'FROM x\n' });
  const first = await ensureImage(engine, plan, options);
  const second = await ensureImage(engine, plan, options);
  expect(first.reference).toMatch(/^e2e-swe\/a-task:abc-[0-9a-f]{16}$/);
  expect(second.id).toBe(first.id);
  expect(engine.calls.filter((call) => call === 'buildImage')).toHaveLength(1);
  expect(engine.builds[0]?.labels).toMatchObject({ 'dev.e2e-swe.workbench': 'image' });
});

/** Harbor's id of an environment is the same after each of these. */
test.each<[what: string, change: (dir: string) => Promise<unknown>]>([
  ['a script that may be run now', (dir) => chmod(path.join(dir, 'run.sh'), 0o755)],
  [
    'a link that leads elsewhere',
    async (dir) => {
      await rm(path.join(dir, 'link'));
      await symlink('Dockerfile', path.join(dir, 'link'));
    },
  ],
  ['what a cache holds', (dir) => writeFile(path.join(dir, '__pycache__/x.pyc'), 'other')],
  ['what .dockerignore leaves out', (dir) => writeFile(path.join(dir, '.dockerignore'), 'run.sh\n')],
])('%s makes another image', async (_, change) => {
  const engine = new FakeEngine();
  const plan = await context({ Dockerfile: 'FROM x\n', 'run.sh': '', '__pycache__/x.pyc': 'one' });
  await symlink('run.sh', path.join(temp.dir, 'link'));
  await chmod(path.join(temp.dir, 'run.sh'), 0o644);
  const before = await ensureImage(engine, plan, options);
  await change(temp.dir);
  const after = await ensureImage(engine, plan, options);
  expect(after.reference).not.toBe(before.reference);
  expect(engine.builds).toHaveLength(2);
  expect((await ensureImage(engine, plan, options)).id).toBe(after.id);
});

test.each([
  ['Tide Query!', 'e2e-swe/tide-query:1'],
  ['---', 'e2e-swe/task:1'],
  ['a__b', 'e2e-swe/a-b:1'],
  ['日本', 'e2e-swe/task:1'],
])('the tag of %j is one that an engine takes', (name, tag) => {
  expect(imageTag(name, '1')).toBe(tag);
});

test.each([
  ['debian', 'debian:latest'],
  ['r.example:5000/x', 'r.example:5000/x:latest'],
  ['r.example:5000/x:1', 'r.example:5000/x:1'],
  ['x@sha256:00', 'x@sha256:00'],
])('%s is pulled as %s', (reference, pulled) => {
  expect(withDefaultTag(reference)).toBe(pulled);
});

describe('the Dockerfile', () => {
  test('loses its syntax line and its byte order mark', async () => {
    const engine = await build({ Dockerfile: '\uFEFF# syntax=docker/dockerfile:1\r\nFROM x\n' });
    expect(dockerfileOf(engine)).toMatch(/^# \(syntax line left out.*\)\s+FROM x\n$/);
  });

  test.each<[dockerfile: string, buildKit: boolean]>([
    ['FROM x\nRUN echo\nCOPY a b\n', false],
    ['FROM x\nRUN --mount=type=cache,target=/c true\n', true],
    ['FROM x\nCOPY --chmod=755 a b\n', true],
    ['FROM x\nCOPY --from=y --link a b\n', true],
    ['FROM x\nRUN <<EOF\ntrue\nEOF\n', true],
    ['FROM x\nrun   --network=none true\n', true],
    ['FROM x\nCOPY --chown=1:1 a b\n', false],
    ['FROM x\n# RUN --mount\nRUN echo --mount\n', false],
    ['FROM x\nRUN true && \\\n  echo --chmod\n', false],
  ])('%j wants BuildKit: %s', async (dockerfile, buildKit) => {
    expect((await build({ Dockerfile: dockerfile, a: '' })).builds[0]?.buildKit).toBe(buildKit);
  });

  test('an engine that prefers BuildKit gets it', async () => {
    const engine = await build({ Dockerfile: 'FROM x\n' }, new FakeEngine({ info: { buildKit: true } }));
    expect(engine.builds[0]?.buildKit).toBe(true);
  });
});

describe('the context', () => {
  test('leaves out what .dockerignore says, with its folders, and keeps exceptions', async () => {
    const engine = await build({
      Dockerfile: 'FROM x\n',
      '.dockerignore': '*\n!src\nsrc/*.log\n',
      'src/main.c': '',
      'src/x.log': '',
      'other/deep/file': '',
      README: '',
    });
    expect([...engine.context.keys()].sort()).toEqual(['Dockerfile', 'src', 'src/main.c']);
  });

  test('without one it is everything, modes and links as they are', async () => {
    await writeFile(path.join(temp.dir, 'run.sh'), '');
    await chmod(path.join(temp.dir, 'run.sh'), 0o755);
    await symlink('/etc/passwd', path.join(temp.dir, 'link'));
    const engine = await build({ Dockerfile: 'FROM x\n' });
    expect(engine.context.get('run.sh')?.header.mode).toBe(0o755);
    expect(engine.context.get('link')?.header).toMatchObject({ type: 'symlink', linkName: '/etc/passwd' });
  });
});

describe('what fails', () => {
  test('a build that takes too long names the limit', async () => {
    const plan = { ...(await context({ Dockerfile: 'FROM x\n' })), timeoutSec: 0.05 };
    const attempt = ensureImage(new FakeEngine({ faults: ['build-hangs'] }), plan, options);
    await expect(attempt).rejects.toMatchObject({
      failure: 'build-failed',
      message: expect.stringContaining('0.05 s'),
    });
  });

  test('a context that is changed meanwhile is named, and no image is made of it', async () => {
    const plan = await context({ Dockerfile: 'FROM x\n', a: '1', b: '1' });
    const engine = new FakeEngine();
    const { inspectImage } = engine;
    engine.inspectImage = async (...args) => {
      await writeFile(path.join(temp.dir, 'b'), '2');
      return inspectImage.apply(engine, args);
    };
    await expect(ensureImage(engine, plan, options)).rejects.toMatchObject({
      failure: 'build-failed',
      message: expect.stringContaining(`${temp.dir} was changed while the image was built from it`),
    });
    engine.inspectImage = inspectImage;
    await writeFile(path.join(temp.dir, 'b'), '1');
    await ensureImage(engine, plan, options);
    expect(engine.builds).toHaveLength(2);
  });

  test('a build that is cancelled is cancelled, not failed', async () => {
    const plan = await context({ Dockerfile: 'FROM x\n' });
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 20);
    const engine = new FakeEngine({ faults: ['build-hangs'] });
    await expect(ensureImage(engine, plan, { ...options, signal: cancel.signal })).rejects.toThrow(
      CancelledError,
    );
  });

  test('a pull names the image and why', async () => {
    const engine = new FakeEngine({ faults: ['pull-fails'] });
    const attempt = ensureImage(engine, { kind: 'reference', reference: 'r.example/x' }, options);
    await expect(attempt).rejects.toMatchObject({
      failure: 'pull-failed',
      message:
        'The image r.example/x is not on this machine and cannot be pulled: lookup registry: no such host',
    });
  });

  test('an image of another system is refused', async () => {
    const engine = new FakeEngine({ faults: ['wrong-platform'] });
    const attempt = ensureImage(engine, { kind: 'reference', reference: 'x' }, options);
    await expect(attempt).rejects.toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('for windows'),
    });
  });
});
