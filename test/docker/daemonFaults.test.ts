import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GradeResult } from '#core/grading/types.ts';
import { type TaskParts, writeReport } from '../fixtures/tasks/makeTask.ts';
import { gradeSchema } from './cliSchema.ts';
import { canRunDaemon, SecondDaemon, tinyImage } from './secondDaemon.ts';
import { ensureCli, Lab, repository, rules, runCli, startCli, startNode, waitFor } from './support.ts';

const passing = writeReport({ first: 'passed', second: 'passed' }, 1);
const tiny = { environment: `docker_image = "${tinyImage}"\nallow_internet = false`, dockerfile: null };
const slow = { testScript: '#!/bin/bash\necho going\nsleep 600\n' };
/** A task of two scripts, graded hardened: the set-up in one container, the tests in another. */
const hardened = (setup: string, test: string): TaskParts => ({
  more: '[metadata.e2e_swe_workbench]\nsetup = "setup.sh"\ntest = "hidden.sh"\n',
  files: { 'tests/setup.sh': `#!/bin/bash\n${setup}`, 'tests/hidden.sh': `#!/bin/bash\n${test}` },
});
/** How long a grade may take to say that its engine is gone. */
const boundMs = 30_000;

/** A daemon, and grades on it by the command line. */
class Site {
  readonly daemon: SecondDaemon;
  readonly lab: Lab;

  private constructor(daemon: SecondDaemon, lab: Lab) {
    this.daemon = daemon;
    this.lab = lab;
  }

  static async open(args: readonly string[] = []): Promise<Site> {
    const daemon = await SecondDaemon.start({ args });
    try {
      return new Site(daemon, await Lab.open(daemon.address));
    } catch (error) {
      await daemon.dispose();
      throw error;
    }
  }

  async close(): Promise<void> {
    try {
      await this.lab.dispose();
    } finally {
      await this.daemon.dispose();
    }
  }

  get env(): NodeJS.ProcessEnv {
    return { DOCKER_HOST: this.daemon.address, E2E_SWE_HOME: path.join(this.lab.dir, 'home') };
  }

  async start(parts: TaskParts, more: readonly string[] = ['--empty']): Promise<ReturnType<typeof startCli>> {
    return startCli(['grade', await this.lab.taskDir({ ...tiny, ...parts }), ...more, '--json'], this.env);
  }

  /** Ends something when the command line says a phase, and gives how the grade ended. */
  async gradeWhile(
    title: string,
    end: () => Promise<void>,
    parts: TaskParts,
    options: { readonly more?: readonly string[]; readonly afterMs?: number } = {},
  ): Promise<GradeResult> {
    const run = await this.start(parts, options.more);
    const afterMs = options.afterMs ?? 0;
    // At once means before it gets any further, however late this process hears of it.
    let isHeld = afterMs > 0;
    run.child.stderr.on('data', () => {
      if (isHeld || !run.out.stderr.includes(title)) return;
      isHeld = run.child.kill('SIGSTOP');
    });
    await waitFor(`"${title}"`, () => run.out.stderr.includes(title));
    await pause(afterMs);
    await end();
    run.child.kill('SIGCONT');
    const since = Date.now();
    const { code, stdout, stderr } = await run.done;
    expect(Date.now() - since).toBeLessThan(boundMs);
    expect({ code, stderr: code === 3 ? '' : stderr }).toEqual({ code: 3, stderr: '' });
    gradeSchema.parse(JSON.parse(stdout));
    return JSON.parse(stdout) as GradeResult;
  }

  /** `clean` removes all that there is; what the engine still had in hand of a killed client may come after it. */
  async expectCleaned(): Promise<void> {
    const left = this.daemon.containers();
    let said = '';
    await waitFor('a clean engine', async () => {
      const { code, stdout, stderr } = await runCli(['clean'], this.env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      said += stdout;
      return this.daemon.containers().length === 0;
    });
    for (const name of left) expect(said).toContain(name);
  }
}

function expectLost(result: GradeResult): void {
  expect(result).toMatchObject({ verdict: 'not graded', reward: null, explanation: { cause: 'engine' } });
  expect(['engine-lost', 'engine-unavailable']).toContain(result.reason);
  expect(result.explanation?.nextStep).toMatch(/engine|Docker/);
  expect(existsSync(path.join(result.dir, 'grade.json'))).toBe(true);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a window does to grade, without its window: the extension's own joining of core, with the editor's API faked. */
async function bundleWindow(dir: string): Promise<string> {
  const outfile = path.join(dir, 'window.cjs');
  const contents = `
import { loadTask } from '#core/task/load.ts';
import { EngineStatus } from '#vscode/engine/engineStatus.ts';
import { createConnect, createGrader } from '#vscode/joinCore.ts';
const log = Object.fromEntries(['trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]));
const engine = new EngineStatus(createConnect(log), log);
const grade = createGrader({ engine, storeDir: () => process.env.E2E_SWE_HOME, log });
loadTask(process.argv[2]).then(async ({ task }) => {
  for await (const event of grade(task, { kind: 'empty' }, new AbortController().signal)) {
    if (event.kind === 'phase') process.stderr.write(event.title + '\\n');
    if (event.kind === 'finished') process.stdout.write(event.result.verdict + '\\n');
  }
});`;
  await build({
    ...{ outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'warning' },
    stdin: { contents, resolveDir: repository, loader: 'ts' },
    alias: { vscode: path.join(repository, 'test/fakes/vscode.ts') },
    external: ['cpu-features'],
    loader: { '.node': 'empty' },
  });
  return outfile;
}

describe.skipIf(!canRunDaemon)('an engine of its own', () => {
  let site: Site;
  let big: string;
  beforeAll(async () => {
    ensureCli();
    site = await Site.open();
    big = await site.lab.workspace();
    // What takes a while to be copied.
    await writeFile(path.join(big, 'big'), randomBytes(60_000_000));
    expect((await (await site.start({})).done).code).toBe(1);
  });
  afterAll(() => site?.close());

  const writesMuch = {
    testScript: `#!/bin/bash\nhead -c 50000000 /dev/zero > /logs/verifier/big.bin\n${passing}`,
  };

  const setsUp = hardened('sleep 600\n', passing);
  const tests = hardened('true\n', 'sleep 600\n');

  describe('that is killed', () => {
    test.each<[when: string, title: string, afterMs: number, parts: TaskParts, more: readonly string[]]>([
      ['a container is started', 'Starting a fresh container', 0, slow, ['--empty']],
      ['files are copied', 'Copying the submission', 50, slow, ['--workspace', 'big']],
      ['the tests run', 'Running the hidden tests', 500, slow, ['--empty']],
      ['results are read', 'Reading the results', 0, writesMuch, ['--empty']],
      ['a hardened set-up runs', "Running the submission's set-up", 300, setsUp, ['--empty', '--hardened']],
      ['hardened tests run', 'Running the hidden tests', 300, tests, ['--empty', '--hardened']],
    ])('while %s: not graded in time, and what was left goes when it is back', async (...row) => {
      const [, title, afterMs, parts, words] = row;
      const more = words.map((word) => (word === 'big' ? big : word));
      expectLost(await site.gradeWhile(title, () => site.daemon.kill(), parts, { more, afterMs }));
      await site.daemon.relaunch();
      // The first may be killed before it has made the container.
      const left = site.daemon.containers().length;
      expect(title === 'Starting a fresh container' ? Math.max(left, 1) : left).toBe(1);
      await site.expectCleaned();
    });

    test('and is back: the next grade of the same window removes what the last one could not', async () => {
      const { lab, daemon } = site;
      const task = await lab.task({ ...tiny, ...slow });
      const result = await lab.grade(task, { kind: 'empty' }, {}, undefined, (event) => {
        if (event.kind === 'phase' && event.phase === 'verify') setTimeout(() => void daemon.kill(), 300);
      });
      expect(result).toMatchObject({ verdict: 'not graded', explanation: { cause: 'engine' } });
      expect(lab.messages.join('\n')).toMatch(/could not be removed: .* The next grade removes it\./);
      await daemon.relaunch();
      const [left] = daemon.containers();
      expect(left).toBeDefined();
      await lab.grade(await lab.task(tiny), { kind: 'empty' });
      await waitFor('the removal', () => daemon.containers().length === 0);
    });
  });

  describe('whose client is killed', () => {
    test.each<[title: string, afterMs: number, parts: TaskParts, more: readonly string[]]>([
      ['Starting a fresh container', 0, slow, ['--empty']],
      ['Starting a fresh container', 60, slow, ['--empty']],
      ['Running the reference solution', 300, { solution: '#!/bin/bash\nsleep 600\n' }, ['--solution']],
      ['Copying the submission', 50, slow, ['--workspace', 'big']],
      ['Running the hidden tests', 300, slow, ['--empty']],
      ['Reading the results', 0, writesMuch, ['--empty']],
      ["Running the submission's set-up", 300, setsUp, ['--empty', '--hardened']],
      ['Taking what the set-up left', 0, tests, ['--empty', '--hardened']],
      ['Starting a second container', 0, tests, ['--empty', '--hardened']],
      ['Running the hidden tests', 300, tests, ['--empty', '--hardened']],
      ['Removing the container', 0, {}, ['--empty']],
    ])('at "%s" + %i ms: the next one removes what it left', async (title, afterMs, parts, more) => {
      const run = await site.start(
        parts,
        more.map((word) => (word === 'big' ? big : word)),
      );
      await waitFor(`"${title}"`, () => run.out.stderr.includes(title));
      await pause(afterMs);
      run.child.kill('SIGKILL');
      await run.done;
      await site.expectCleaned();
      const again = await (await site.start({})).done;
      expect(gradeSchema.parse(JSON.parse(again.stdout)).verdict).toBe('unresolved');
      await site.expectCleaned();
    });
  });

  describe('whose image is of another architecture', () => {
    const foreign = (name: string) => ({ ...tiny, environment: `docker_image = "${name}"` });

    test('by its label alone runs, and is marked', async () => {
      const { lab, daemon } = site;
      await daemon.relabel(tinyImage, 'labelled:1', 'arm64');
      const result = await lab.grade(await lab.task(foreign('labelled:1')), { kind: 'empty' });
      expect(result).toMatchObject({
        verdict: 'unresolved',
        evidence: { image: { arch: 'arm64', emulated: true }, engine: { arch: 'amd64' } },
      });
      expect(rules(result)).toContain('emulated');
    });

    test("with programs that this machine cannot run is the platform's fault, with what to do", async () => {
      const { lab, daemon } = site;
      const dir = path.join(lab.dir, 'foreign');
      await mkdir(path.join(dir, 'bin'), { recursive: true });
      const program = await readFile(process.execPath).then((bytes) => bytes.subarray(0, 4096));
      // e_machine of the ELF header: AArch64.
      program.writeUInt16LE(0xb7, 18);
      for (const name of ['sh', 'bash', 'sleep'])
        await writeFile(path.join(dir, 'bin', name), program, { mode: 0o755 });
      execFileSync('sh', [
        '-c',
        'tar -c -C "$1" . | docker -H "$0" import -c "WORKDIR /app" - raw:1',
        daemon.address,
        dir,
      ]);
      await daemon.relabel('raw:1', 'foreign:1', 'arm64');
      const result = await lab.grade(await lab.task(foreign('foreign:1')), { kind: 'empty' });
      expect(result).toMatchObject({
        verdict: 'not graded',
        reason: 'image-platform',
        explanation: { cause: 'engine', text: expect.stringContaining('foreign:1 is for arm64') },
      });
      expect(result.explanation?.nextStep).toContain('emulation');
      expect(daemon.containers()).toEqual([]);
    });
  });

  test('two windows and a command line at once, one window killed: only its container goes', async () => {
    const script = await bundleWindow(site.lab.dir);
    const waits = { testScript: `#!/bin/bash\nuntil [ -e /tmp/go ]; do sleep 0.1; done\n${passing}` };
    const window = (task: string) => startNode(script, [task], site.env);
    const dir = (parts: TaskParts) => site.lab.taskDir({ ...tiny, ...parts });
    const dies = window(await dir(slow));
    const others = [window(await dir(waits)), await site.start(waits)];
    await waitFor('all three', () =>
      [dies, ...others].every(({ out }) => out.stderr.includes('Running the hidden tests')),
    );
    expect(site.daemon.containers()).toHaveLength(3);
    dies.child.kill('SIGKILL');
    await dies.done;
    // A window looks when it first needs the engine.
    const third = await window(await dir({})).done;
    expect(third).toMatchObject({ code: 0, stdout: 'unresolved\n' });
    await waitFor('the sweep', () => site.daemon.containers().length === 2);
    for (const name of site.daemon.containers())
      site.daemon.docker(['exec', name, 'sh', '-c', 'echo > /tmp/go']);
    const [alive, cli] = await Promise.all(others.map(({ done }) => done));
    expect([alive?.stdout, cli?.code]).toEqual(['resolved\n', 0]);
    await waitFor('the last removal', () => site.daemon.containers().length === 0);
  });
});

describe.skipIf(!canRunDaemon).concurrent('a grade whose engine', () => {
  test('is stopped in good order, which ends the container: the engine is blamed, not the tests', async () => {
    ensureCli();
    const site = await Site.open();
    try {
      // A harness that writes the worst result first, as some do.
      const parts = { testScript: `#!/bin/bash\n${writeReport({ a: 'failed' }, 0)}sleep 600\n` };
      expectLost(
        await site.gradeWhile('Running the hidden tests', () => site.daemon.stop(), parts, { afterMs: 500 }),
      );
      await site.daemon.relaunch();
      await site.expectCleaned();
      // A set-up that was ended by this is not one that failed.
      const setUp = ["Running the submission's set-up", hardened('sleep 600\n', passing)] as const;
      const how = { afterMs: 500, more: ['--empty', '--hardened'] };
      expectLost(await site.gradeWhile(setUp[0], () => site.daemon.stop(), setUp[1], how));
      await site.daemon.relaunch();
      await site.expectCleaned();
    } finally {
      await site.close();
    }
  });

  test('is restarted while containers live on: the engine is blamed, and the container goes', async () => {
    ensureCli();
    const site = await Site.open(['--live-restore']);
    try {
      const restart = async (): Promise<void> => {
        await site.daemon.stop();
        await site.daemon.launch();
      };
      const parts = { testScript: `#!/bin/bash\nsleep 600\n${passing}` };
      expectLost(await site.gradeWhile('Running the hidden tests', restart, parts, { afterMs: 500 }));
      await site.expectCleaned();
    } finally {
      await site.close();
    }
  });
});
