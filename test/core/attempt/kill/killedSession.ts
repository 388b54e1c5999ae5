import { writeSync } from 'node:fs';
import path from 'node:path';
import { hrtime } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Recorders } from '#core/attempt/recorders.ts';
import { nullLog } from '#core/base/log.ts';
import { type Fault, faultyDisk } from './faultyFile.ts';
import { textsOf } from './readBack.ts';
import { ScriptedSession } from './scriptedSession.ts';

const nowMs = (): number => Number(hrtime.bigint() / 1_000n) / 1_000;

/**
 * A session with the real recorder, its clock and its terminals, until it is killed. What it does it says first, with
 * its moment: what is written to a pipe outlives the process.
 */
async function main(storeDir: string, id: string, fault: Fault, seed: number): Promise<void> {
  writeSync(1, 'begin\n');
  const store = new AttemptStore(storeDir);
  const recorders = new Recorders({
    store,
    log: nullLog,
    reserveBytes: 1 << 12,
    openFile: faultyDisk(fault, seed, (when, file) =>
      writeSync(1, `sync-${when}-${path.extname(file)} ${nowMs()}\n`),
    ),
    engineAddress: () => Promise.resolve(''),
    freeBytes: () => Promise.resolve(1e12),
  });
  const session = new ScriptedSession(seed, await textsOf(store.dirOf(id)));
  const recorder = await recorders.open(id);
  recorder.append({ kind: 'container', how: 'started' });
  await recorders.watch(id);
  recorder.append({ kind: 'thawed' });
  await recorder.flush();
  const { cast } = recorder.openCast({ cols: 80, rows: 24 });
  writeSync(1, `on ${nowMs()}\n`);
  for (;;) {
    const step = session.next();
    const kind = 'event' in step ? step.event.kind : 'cast';
    writeSync(1, `${kind} ${nowMs()}\n`);
    if ('event' in step) recorder.append(step.event);
    else if (step.code === 'o') cast.output(step.data);
    else if (step.code === 'i') cast.input(step.data);
    else {
      const [cols = 0, rows = 0] = step.data.split('x').map(Number);
      cast.resize({ cols, rows });
    }
    if (kind === 'thawed') {
      await recorder.flush();
      writeSync(1, `ran ${nowMs()}\n`);
    }
    await delay(3);
  }
}

const [storeDir = '', id = '', fault = 'none', seed = '0'] = process.argv.slice(2);
void main(storeDir, id, fault as Fault, Number(seed));
