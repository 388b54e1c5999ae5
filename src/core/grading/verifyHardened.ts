import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { bareNetworkEntries } from '#core/container/bareNetwork.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { walkFolder } from '#core/container/folderTar.ts';
import { type TarEntry, writeTar } from '#core/container/tarStream.ts';
import type { TwoScriptContract } from '#core/task/contract.ts';
import {
  freePaths,
  type OomWatch,
  recordInspection,
  requireEngine,
  settle,
  watchingOom,
} from './aftermath.ts';
import { changesOutside } from './changes.ts';
import { collectVerifierFolder } from './collect.ts';
import { inspectContainer, prepareContainer } from './copyIn.ts';
import { fill, startFor } from './fill.ts';
import { killContainer, withContainer } from './gradeContainer.ts';
import { type Installed, takeInstalled } from './installed.ts';
import { hasSetup } from './judge.ts';
import { NotGradedError } from './reasons.ts';
import type { GradeRecord } from './record.ts';
import { readSubmission } from './submission.ts';
import { type RunOutcome, runTests } from './verify.ts';
import type { VerifyInput } from './verifySubmission.ts';

/** The user that a hardened task runs the product as: nobody, who owns nothing and may write to nothing of ours. */
const productUser = { uid: 65_534, gid: 65_534 };
/** Where the tests' own commands are found: never below /usr/local, which the set-up may fill. */
const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin';

type HardenedInput = VerifyInput & { readonly contract: TwoScriptContract };

/**
 * A grade whose tests the submission cannot reach. Its set-up runs in one container, where no test is. The workdir
 * and what it installed beside are taken from there by the engine, once nothing runs any more, and go to a second
 * container of the task's own image: what the tests run on is the image's, whatever the set-up did to it. There the
 * tests' parent is root, and the product is to run as another user, who can neither read the tests nor write a
 * result. A set-up that fails, in whatever way, is the submission's failure and never `not graded`.
 */
export async function verifyHardened(
  engine: ContainerEngine,
  input: HardenedInput,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<void> {
  const started = Date.now();
  const options = {
    image: input.image,
    limits: input.plan.limits,
    env: input.env.container,
    workdir: input.plan.workdir,
    network: input.network,
    log: input.log,
  };
  record.phase('container', 'Starting a fresh container');
  const installed = await withContainer(engine, options, (container) =>
    watchingOom(container, (oom) => runSetup(container, input, oom, record, signal)),
  );
  if (installed === undefined) return;
  const leftSec = input.plan.timeoutSec - (Date.now() - started) / 1000;
  record.phase('container', 'Starting a second container for the tests');
  await withContainer(
    engine,
    { ...options, keepFor: input.keep ? input.dir : undefined, noNewPrivileges: true },
    (container) =>
      watchingOom(container, async (oom) => {
        await fillSecond(container, input, installed, record, signal);
        await runHidden(container, input, oom, leftSec, record, signal);
      }),
    () => record.phase('remove', 'Removing the container'),
  );
}

/** What the set-up left; undefined where it failed and the grade is decided by that. */
async function runSetup(
  container: ContainerHandle,
  input: HardenedInput,
  oom: OomWatch,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<Installed | undefined> {
  const { plan, roots, contract } = input;
  const withoutTests = { ...input, plan: { ...plan, testsDir: undefined } };
  const owner = await startFor(container, withoutTests, signal);
  const submission = await fill(container, withoutTests, owner, record, signal);
  const inspection = await inspectContainer(container, roots, submission, signal);
  recordInspection(inspection, record);
  requireWhole(inspection.differing);
  if (!inspection.hasBash) throw new NotGradedError('bash-missing');
  const script = testFiles(input, signal, (name) => name === contract.setup);
  await container.putArchive('/', writeTar(script), signal);

  record.phase('setup', "Running the submission's set-up");
  const outcome = await runTests(
    container,
    {
      workdir: input.workdir,
      user: plan.user,
      env: input.env.verifier,
      timeoutSec: plan.timeoutSec,
      command: runScript(contract.setup),
      onOutput: input.live ? (chunk) => record.output(chunk) : undefined,
    },
    signal,
  );
  record.phase('take', 'Taking what the set-up left');
  if (!outcome.timedOut) await requireEngine(container, outcome.exitCode);
  await killContainer(container);
  const dir = path.join(input.dir, 'setup');
  await mkdir(dir, { recursive: true });
  record.marks((await collectVerifierFolder(container, dir, signal)).marks);
  const free = freePaths(roots);
  const ended = setupFailure(outcome, oom, plan.timeoutSec);
  const changed = ended === undefined ? await container.changes(free, signal) : undefined;
  const failure =
    ended ??
    (changed ? undefined : "The submission's setup.sh left paths that are too long for the engine to list.");
  if (failure !== undefined) {
    record.evidence({ exitCode: outcome.exitCode, oomKilled: outcome.oomKilled || oom.seen });
    if (await hasSetup(input)) record.setupEnded(failure);
    else record.setup(outcome.exitCode ?? 1, false);
    record.setupFailed();
    return undefined;
  }
  const changes = changesOutside(changed ?? [], free);
  record.changedOutside(changes);
  return takeInstalled(container, { roots, changes, dir }, record, signal);
}

/** Fresh, with what the set-up left where it left it, and the tests where only root can read them. */
async function fillSecond(
  container: ContainerHandle,
  input: HardenedInput,
  { submission, places }: Installed,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<void> {
  await container.start(signal);
  record.phase('copy', 'Copying the set-up and the tests in');
  await prepareContainer(container, input.roots, submission, signal);
  async function* entries(): AsyncGenerator<TarEntry> {
    yield* readSubmission(submission);
    yield* testFiles(input, signal, () => true);
  }
  await container.putArchive('/', writeTar(entries()), signal);
  const { differing } = await inspectContainer(container, [...input.roots, ...places], submission, signal);
  // The image has files of its own beside what was installed.
  requireWhole(differing.filter((text) => !text.endsWith(': unexpected')));
  const locked = await container.exec(
    { command: ['chmod', '700', '/tests', '/logs/verifier'], user: '0' },
    signal,
  );
  if (locked.exitCode !== 0)
    throw new NotGradedError(
      'container-start-failed',
      `The tests could not be locked away (exit ${locked.exitCode}): the image may lack chmod.`,
    );
}

async function runHidden(
  container: ContainerHandle,
  input: HardenedInput,
  oom: OomWatch,
  leftSec: number,
  record: GradeRecord,
  signal: AbortSignal,
): Promise<void> {
  const { plan, contract } = input;
  record.phase('tests', 'Running the hidden tests');
  const outcome = await runTests(
    container,
    {
      workdir: '/',
      user: '0',
      env: {
        ...input.env.verifier,
        PATH: systemPath,
        HOME: '/nonexistent',
        E2E_SWE_PRODUCT_UID: String(productUser.uid),
        E2E_SWE_PRODUCT_GID: String(productUser.gid),
      },
      timeoutSec: leftSec,
      command: runScript(contract.test),
      onOutput: input.live ? (chunk) => record.output(chunk) : undefined,
    },
    signal,
  );
  record.evidence({ exitCode: outcome.exitCode, timeoutSec: plan.timeoutSec });
  await settle(container, input, outcome, oom, record, signal);
}

function runScript(name: string): string {
  return `bash "/tests/${name.replaceAll(/["$`\\]/g, '\\$&')}" > /logs/verifier/test-stdout.txt 2>&1`;
}

function requireWhole(differing: readonly string[]): void {
  if (differing.length > 0)
    throw new NotGradedError(
      'copy-incomplete',
      `The submission did not arrive whole: ${differing.slice(0, 3).join('; ')}.`,
    );
}

function setupFailure(outcome: RunOutcome, oom: OomWatch, timeoutSec: number): string | undefined {
  if (outcome.timedOut) return `The submission's setup.sh did not end within ${timeoutSec} s.`;
  if (outcome.died) return "The submission's setup.sh ended its own container.";
  if (outcome.exitCode === 0) return undefined;
  if (outcome.oomKilled || oom.seen) return "The submission's setup.sh ran out of memory.";
  return `The submission's setup.sh failed with exit code ${outcome.exitCode}.`;
}

async function* testFiles(
  { plan, network }: VerifyInput,
  signal: AbortSignal,
  take: (name: string) => boolean,
): AsyncGenerator<TarEntry> {
  if (typeof network === 'object') yield* bareNetworkEntries(network);
  if (plan.testsDir === undefined) return;
  for await (const { header, body } of walkFolder(plan.testsDir, { prefix: 'tests', signal })) {
    if (header.type !== 'directory' && !take(header.name.slice('tests/'.length))) continue;
    yield { header: { ...header, uid: 0, gid: 0 }, body };
  }
}
