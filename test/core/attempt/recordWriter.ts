import { writeSync } from 'node:fs';
import { RecordLog } from '#core/attempt/recordLog.ts';
import { nullLog } from '#core/base/log.ts';

/** A process that records until it is killed, and says of each event when it was appended. */
async function main(file: string): Promise<void> {
  const log = await RecordLog.open(file, {
    log: nullLog,
    reserveBytes: 1 << 12,
    onLine: ({ n }) => writeSync(1, `${n} ${Date.now()}\n`),
  });
  for (let i = 0; ; i++) {
    for (let j = 0; j < 3; j++) log.append({ kind: 'note', text: `${i} ${'x'.repeat((i * 7919) % 3000)}` });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

void main(process.argv[2] as string);
