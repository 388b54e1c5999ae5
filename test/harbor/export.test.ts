import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import { runRecorded } from '#core/attempt/recordTerminal.ts';
import { nullLog } from '#core/base/log.ts';
import { connectEngine } from '#core/container/connect.ts';
import { loadTask } from '#core/task/load.ts';
import { harborTask } from '#core/trial/harborTask.ts';
import { readTrialResult } from '#core/trial/readTrialResult.ts';
import { exportCommand } from '../../src/cli/attemptExport.ts';
import { base, makeTask } from './fixtures.ts';
import { cleanUp, setUpHarbor } from './harness.ts';

/** An attempt that was really made, as the real Harbor sees it. */

const script = fileURLToPath(new URL('../../scripts/harbor/harbor.mjs', import.meta.url));
const never = new AbortController().signal;
const store = new AttemptStore(path.join(base, 'store'));
const attempts = new Attempts({
  store,
  connect: () => connectEngine({ env: process.env }),
  log: nullLog,
  hostEnv: {},
});
const jobs = path.join(base, 'jobs');
let id = '';
let taskDir = '';

beforeAll(async () => {
  setUpHarbor();
  taskDir = makeTask();
  const { task } = await loadTask(taskDir);
  if (!task) throw new Error('The fixture is no task.');
  for await (const event of attempts.start(task, {}, never))
    if (event.kind === 'ready') id = event.attempt.id;
  const open = await attempts.open(id, never);
  const command = ['sh', '-c', 'echo A >a; echo B >b; mkdir -p deep/empty; ls; exit 3'];
  const spec = { command, workdir: '/app', onOutput: () => undefined };
  await runRecorded(open.container, spec, open.recorder, never);
  await open.close();
  for await (const event of attempts.submit(id, never))
    if (event.kind === 'finished') expect(event.result).toMatchObject({ verdict: 'resolved', reward: 1 });
}, 240_000);

afterAll(async () => {
  if (id) await attempts.delete(id);
  await cleanUp();
});

async function exportTo(name: string, ...flags: readonly string[]): Promise<string> {
  const dir = path.join(jobs, 'a-job', name);
  mkdirSync(path.dirname(dir), { recursive: true });
  const silent = { stdout: () => undefined, stderr: () => undefined, stdoutBytes: async () => undefined };
  const context = { signal: never, env: process.env, ...silent };
  expect(await exportCommand([id, '--out', dir, ...flags], { ...context, store, attempts })).toBe(0);
  return dir;
}

/** Every answer of Harbor's own viewer about a trial, after its models have read the files strictly. */
const look = `
import json, sys
from pathlib import Path
from fastapi.testclient import TestClient
from harbor.models.trajectories import Trajectory
from harbor.models.trial.result import TrialResult
from harbor.viewer.server import create_app
jobs, name = Path(sys.argv[1]), sys.argv[2]
trial = jobs / "a-job" / name
TrialResult.model_validate_json((trial / "result.json").read_text())
Trajectory.model_validate_json((trial / "agent" / "trajectory.json").read_text())
client = TestClient(create_app(jobs))
at = f"/api/jobs/a-job/trials/{name}"
answers = {}
for what in ["", "/trajectory", "/verifier-output", "/artifacts", "/files"]:
    answer = client.get(at + what)
    assert answer.status_code == 200, (what, answer.text)
    answers[what] = answer.json()
print(json.dumps(answers))
`;

interface Looked {
  readonly '': { readonly verifier_result: unknown; readonly agent_info: { readonly name: string } };
  readonly '/trajectory': { readonly steps: readonly { readonly observation?: unknown }[] };
}

function lookAt(name: string): Looked {
  const args = ['run', '--rm', '--network', 'none', '-v', `${jobs}:${jobs}:ro`, 'e2e-swe/harbor:0.22.0'];
  const said = execFileSync('docker', [...args, 'python3', '-c', look, jobs, name], { encoding: 'utf8' });
  return JSON.parse(said) as Looked;
}

test("Harbor's models and viewer read an exported attempt, as it is and anonymised", async () => {
  for (const [name, ...flags] of [['plain'], ['hidden', '--anonymised']] as const) {
    await exportTo(name, ...flags);
    const looked = lookAt(name);
    expect(looked['']).toMatchObject({
      verifier_result: { rewards: { reward: 1 } },
      agent_info: { name: 'human' },
    });
    expect(JSON.stringify(looked['/trajectory'].steps)).toContain('"content":"a\\nb\\ndeep');
  }
});

test('harbor trial regrade gives an exported attempt the same reward', async () => {
  const dir = await exportTo('regraded', '--anonymised');
  const { task } = await loadTask(taskDir);
  const { image } = await store.read(id);
  const view = await harborTask(task as NonNullable<typeof task>, {
    into: path.join(base, 'view'),
    image: image.reference,
    limits: { cpus: null, memoryMb: null },
    publicNetwork: true,
  });
  const trials = path.join(base, 'regrades');
  const args = ['trial', 'regrade', dir, '-p', view.dir, '-o', trials, '--trial-name', 'again__abcdefg'];
  execFileSync(process.execPath, [script, ...args], { cwd: base, stdio: 'pipe' });
  const again = path.join(trials, 'again__abcdefg');
  expect(await readTrialResult(again, { expected: 2 })).toMatchObject({
    verdict: 'resolved',
    rewards: { reward: 1 },
    agent: { name: 'human' },
  });
  // It brought the builder's session along.
  expect(readFileSync(path.join(again, 'agent/trajectory.json'))).toEqual(
    readFileSync(path.join(dir, 'agent/trajectory.json')),
  );
});
