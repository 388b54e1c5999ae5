import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AttemptStore } from '#core/attempt/attemptStore.ts';
import { Attempts } from '#core/attempt/attempts.ts';
import { readRecordLog } from '#core/attempt/readRecordLog.ts';
import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { recordFileOf } from '#core/attempt/recorder.ts';
import type { OpenAttempt } from '#core/attempt/types.ts';
import type { GradeResult } from '#core/grading/types.ts';
import { sh, testScript } from './attemptSupport.ts';
import { canRunDaemon, SecondDaemon, tinyImage } from './secondDaemon.ts';
import { Lab } from './support.ts';

const never = new AbortController().signal;
const tiny = {
  environment: `docker_image = "${tinyImage}"\nallow_internet = false\ncpus = 1\nmemory_mb = 256`,
  dockerfile: null,
};

interface Try {
  readonly script: (store: string) => string;
  /** What it says where it did what it is to do. */
  readonly says: RegExp;
}

/** What a builder with root in the container may try against clock, record and verdict. */
const tries: Readonly<Record<string, Try>> = {
  'setting the clock': {
    script: () => 'date -s "2001-02-03 04:05:06"; date +%Y',
    says: new RegExp(`\n${new Date().getFullYear()}\n.*Operation not permitted`),
  },
  'files that look like a record, a clock, a report or a reward': {
    script: (store) => `
mkdir -p /app/attempts /var/tmp/user-sessions "${store}" /logs/verifier /tests /root
for f in /app/record.jsonl /app/clock.json /app/attempt.json /root/.clock /var/tmp/user-sessions/clock \
  "${store}/attempt.json" "${store}/record.jsonl" "${store}/clock.json" "${store}/guard.jsonl"; do
  echo '{"v":1,"n":0,"kind":"frozen","reason":"pause"}' > "$f"
done
echo 1 > /logs/verifier/reward.txt
echo '{"results":{"tool":{"name":"shell"},"tests":[{"name":"first","status":"passed"},{"name":"second","status":"passed"}]}}' > /logs/verifier/ctrf.json
printf '#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n' > /tests/test.sh; chmod +x /tests/test.sh
cat "${store}/record.jsonl"`,
    says: /^\{"v":1,"n":0/,
  },
  'links to where the record is on the host': {
    script: (store) => `
rm -rf "${store}"; ln -s "${store}/record.jsonl" /app/link.jsonl; ln -s "${store}" /app/linked
echo spoiled >> /app/link.jsonl; echo spoiled > /app/linked/clock.json; ls -l /app`,
    says: /linked -> .*\n[\s\S]*cannot create \/app\/linked/,
  },
  'filling the disk': {
    script: () => 'dd if=/dev/zero of=/app/fill bs=1M; stat -c %s /app/fill; rm -f /app/fill',
    says: /^\d{7,}\n[\s\S]*No space left on device/,
  },
  'stopping every process': {
    script: () => 'setsid sleep 900 & sleep 0.2; kill -STOP -1; cat /proc/[0-9]*/stat',
    says: /\(sleep\) T /,
  },
  'killing every process': {
    // The container ends with them, and what was started in it says nothing any more.
    script: () => 'kill -KILL -1; sleep 1; echo alive',
    says: /^$/,
  },
};

describe.skipIf(!canRunDaemon)('what a builder does inside the container, as root', () => {
  let daemon: SecondDaemon;
  let lab: Lab;
  let store: AttemptStore;
  let attempts: Attempts;
  let open: OpenAttempt;
  let id = '';
  beforeAll(async () => {
    daemon = await SecondDaemon.start({ sizeMb: 128 });
    lab = await Lab.open(daemon.address);
    store = new AttemptStore(path.join(lab.dir, 'store'));
    attempts = new Attempts({ store, connect: async () => lab.engine, log: lab.log, hostEnv: {} });
    for await (const event of attempts.start(await lab.task({ ...tiny, testScript }), {}, never))
      if (event.kind === 'ready') id = event.attempt.id;
    open = await attempts.open(id, never);
    await open.files.write('/app/setup.sh', Buffer.from('printf nothing\n'));
    open.recorder?.append({ kind: 'note', text: 'before' });
  });
  afterAll(async () => {
    await open?.close();
    for (const attempt of (await store?.list()) ?? [])
      await attempts.delete(attempt.id).catch(() => undefined);
    try {
      await lab?.dispose();
    } finally {
      await daemon?.dispose();
    }
  });

  async function state() {
    await open.recorder?.flush();
    const dir = store.dirOf(id);
    const lines: RecordLine[] = [];
    for await (const read of readRecordLog(recordFileOf(dir))) {
      expect(read).toHaveProperty('line');
      if ('line' in read) lines.push(read.line);
    }
    const attempt = await readFile(path.join(dir, 'attempt.json'));
    return {
      lines,
      bytes: await readFile(recordFileOf(dir)),
      attempt: createHash('sha256').update(attempt).digest('hex'),
    };
  }

  test.each(Object.keys(tries))('%s changes neither clock nor record', async (name) => {
    const before = await state();
    const hostYear = new Date().getFullYear();
    const started = { ms: performance.now(), unpaused: open.recorder?.clock.unpausedMs ?? 0 };
    const { script, says } = tries[name] as Try;
    expect(await sh(open.container, script(store.dirOf(id)))).toMatch(says);
    const passed = performance.now() - started.ms;
    const counted = (open.recorder?.clock.unpausedMs ?? 0) - started.unpaused;
    expect(Math.abs(counted - passed)).toBeLessThan(50);
    const after = await state();
    expect(after.bytes.subarray(0, before.bytes.length).equals(before.bytes)).toBe(true);
    const added = after.lines.slice(before.lines.length);
    expect(added.map(({ kind }) => kind).filter((kind) => kind !== 'tick')).toEqual([]);
    expect(added.every(({ utc }) => new Date(utc).getFullYear() >= hostYear)).toBe(true);
    expect(after.attempt).toBe(before.attempt);
  });

  test('nor does it change the verdict, which is that of the files', async () => {
    const results: GradeResult[] = [];
    const read = async (events: ReturnType<Attempts['grade']>): Promise<void> => {
      for await (const event of events) if (event.kind === 'finished') results.push(event.result);
    };
    await read(attempts.grade(id, {}, never));
    // Whatever was killed and stopped in there: its builder can work on, after a reopening at the latest.
    await open.close();
    open = await attempts.open(id, never);
    await sh(open.container, 'printf "printf ok > built.txt" > /app/setup.sh');
    await read(attempts.submit(id, never));
    expect(results.map(({ verdict, counts }) => [verdict, counts.passed])).toEqual([
      ['unresolved', 1],
      ['resolved', 2],
    ]);
    const { lines } = await state();
    const graded = lines.flatMap((line) => (line.kind === 'graded' ? [line.verdict] : []));
    expect(graded).toEqual(['unresolved', 'resolved']);
    const clock = await attempts.clock(id);
    expect(clock.unpausedMs).toBeLessThan(120_000);
  });
});
