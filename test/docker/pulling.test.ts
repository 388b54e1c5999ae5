import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCancellation } from '#core/base/errors.ts';
import { nullLog } from '#core/base/log.ts';
import { connectEngine } from '#core/container/connect.ts';
import type { EngineError, ImageInfo } from '#core/container/engine.ts';
import { ensureImage } from '#core/container/images.ts';
import { hasRegistry, type Registry, startRegistry } from './registry.ts';
import { docker, Lab } from './support.ts';

const skipped = !hasRegistry && !process.env.CI;
if (skipped) console.log('Skipped: pulling from a registry, since docker-registry is not installed.');

describe.skipIf(skipped)('pulling from a registry', () => {
  let lab: Lab;
  let open: Registry;
  let locked: Registry;
  /** A small image and one of some megabytes that do not compress, in both registries. */
  let small: string;
  let large: string;

  beforeAll(async () => {
    lab = await Lab.open();
    [open, locked] = await Promise.all([
      startRegistry(path.join(lab.dir, 'open')),
      startRegistry(path.join(lab.dir, 'locked'), { password: true }),
    ]);
    small = `${open.host}/test/small:1`;
    large = `${open.host}/test/large:1`;
    const context = path.join(lab.dir, 'context');
    await mkdir(context);
    await writeFile(path.join(context, 'Dockerfile'), 'FROM scratch\nWORKDIR /app\nCOPY data /data\n');
    await writeFile(path.join(context, 'data'), `small ${process.pid}`);
    docker(['build', '-q', '-t', small, '-t', `${locked.host}/test/small:1`, context]);
    await writeFile(path.join(context, 'data'), randomBytes(60 * 1024 * 1024));
    docker(['build', '-q', '-t', large, context]);
    docker(['push', '-q', small]);
    docker(['push', '-q', large]);
    const config = await clientConfig('push', { auths: { [locked.host]: { auth: basic } } });
    docker(['push', '-q', `${locked.host}/test/small:1`], { env: { ...process.env, DOCKER_CONFIG: config } });
    docker(['image', 'rm', small, large, `${locked.host}/test/small:1`]);
  });
  afterAll(async () => {
    for (const image of [small, large, `${locked.host}/test/small:1`])
      docker(['image', 'rm', '-f', image], { allowFailure: true });
    await Promise.all([open?.stop(), locked?.stop()]);
    await lab?.dispose();
  });

  const basic = Buffer.from('someone:secret').toString('base64');

  /** A docker client's configuration folder. */
  async function clientConfig(name: string, config: object): Promise<string> {
    const folder = path.join(lab.dir, `config-${name}`);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'config.json'), JSON.stringify(config));
    return folder;
  }

  async function pull(
    reference: string,
    env: NodeJS.ProcessEnv = { DOCKER_CONFIG: '/nonexistent' },
    signal?: AbortSignal,
    onProgress: (line: string) => void = () => undefined,
  ): Promise<ImageInfo> {
    const engine = await connectEngine({ env: { ...process.env, ...env } });
    const plan = { kind: 'reference' as const, reference };
    return ensureImage(engine, plan, { onProgress, log: nullLog, ...(signal ? { signal } : {}) });
  }

  test('shows its progress and keeps the digest; then the image is there', async () => {
    const lines: string[] = [];
    const image = await pull(small, undefined, undefined, (line) => lines.push(line));
    expect(lines.join('\n')).toMatch(/Pull complete|Download complete/);
    expect(image).toMatchObject({
      reference: small,
      os: 'linux',
      workdir: '/app',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    lines.length = 0;
    const again = await pull(small, undefined, undefined, (line) => lines.push(line));
    expect(again).toEqual(image);
    expect(lines).toEqual([]);
    const byDigest = await pull(`${open.host}/test/small@${image.digest}`);
    expect(byDigest.id).toBe(image.id);
  });

  test('a tag that is not there is named', async () => {
    const failure = await pull(`${open.host}/test/small:none`).catch((error: EngineError) => error);
    expect(failure).toMatchObject({
      failure: 'pull-failed',
      message: expect.stringContaining('test/small:none'),
    });
  });

  test('a cancelled pull ends at once and leaves no image', async () => {
    const cancel = new AbortController();
    let lines = 0;
    const outcome = pull(large, undefined, cancel.signal, (line) => {
      if (/Downloading|Pulling fs layer|Extracting/.test(line) && lines++ === 0) cancel.abort();
    });
    const failure = await outcome.catch((error: unknown) => error);
    expect(isCancellation(failure)).toBe(true);
    expect(lines).toBeGreaterThan(0);
    expect(docker(['images', '-q', large])).toBe('');
  });

  describe('with a password', () => {
    test('and no credentials it is refused, in words', async () => {
      const failure = await pull(`${locked.host}/test/small:1`).catch((error: EngineError) => error);
      expect(failure).toMatchObject({
        failure: 'pull-failed',
        message: expect.stringMatching(/no basic auth|unauthorized/i),
      });
    });

    test('from the file', async () => {
      const config = await clientConfig('file', {
        auths: { [`http://${locked.host}/v2/`]: { auth: basic } },
      });
      expect((await pull(`${locked.host}/test/small:1`, { DOCKER_CONFIG: config })).os).toBe('linux');
      docker(['image', 'rm', `${locked.host}/test/small:1`]);
    });

    test('from a credential helper', async () => {
      const bin = path.join(lab.dir, 'bin');
      await mkdir(bin, { recursive: true });
      const helper = path.join(bin, 'docker-credential-test');
      await writeFile(
        helper,
        `#!/bin/sh\nread host\n[ "$1 $host" = "get ${locked.host}" ] || exit 1\necho '{"Username":"someone","Secret":"secret"}'\n`,
      );
      await chmod(helper, 0o755);
      const config = await clientConfig('helper', { credHelpers: { [locked.host]: 'test' } });
      const env = { DOCKER_CONFIG: config, PATH: `${bin}:${process.env.PATH}` };
      expect((await pull(`${locked.host}/test/small:1`, env)).os).toBe('linux');
      docker(['image', 'rm', `${locked.host}/test/small:1`]);
    });

    test('a wrong one is refused', async () => {
      const wrong = Buffer.from('someone:wrong').toString('base64');
      const config = await clientConfig('wrong', { auths: { [locked.host]: { auth: wrong } } });
      await expect(pull(`${locked.host}/test/small:1`, { DOCKER_CONFIG: config })).rejects.toMatchObject({
        failure: 'pull-failed',
      });
    });
  });

  test('a registry that is gone: the image is named, with why', async () => {
    docker(['image', 'rm', '-f', small], { allowFailure: true });
    await open.stop();
    const task = await lab.task({ environment: `docker_image = "${small}"\nallow_internet = false` });
    const result = await lab.grade(task, { kind: 'empty' });
    expect(result).toMatchObject({ verdict: 'not graded', reason: 'image-missing' });
    expect(result.explanation?.text).toMatch(new RegExp(`${small} .*cannot be pulled: .*refused`, 's'));
  });
});
