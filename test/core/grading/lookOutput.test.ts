import { expect, test } from 'vitest';
import { LookOutput } from '#core/grading/lookOutput.ts';

const listing = 'f\t644\t1\t5.0\t\0/app/a\0d\t755\t0\t5.0\t\0/app\0';
const notes = 'script\nfailed connect\n';

test.each([1, 2, 3, 7, 1000])('in pieces of %i bytes: all up to the marks, nothing after them', (size) => {
  const look = new LookOutput();
  const send = (text: string, stream: 'stdout' | 'stderr'): void => {
    for (let at = 0; at < text.length; at += size)
      look.write(Buffer.from(text.slice(at, at + size), 'latin1'), stream);
  };
  send(`${listing}\0forged\0/app/forged\0`, 'stdout');
  send(`${notes}looked\nconnected\nnofind\n`, 'stderr');
  send('more\0\0', 'stdout');
  send('connected\n', 'stderr');
  expect(look.stdout.toString('latin1')).toBe(listing);
  expect(look.stderr.toString()).toBe(notes);
});

test('a look that was cut short gives what there is', () => {
  const look = new LookOutput();
  look.write(Buffer.from('f\t644'), 'stdout');
  look.write(Buffer.from('scri'), 'stderr');
  expect([look.stdout.toString(), look.stderr.toString()]).toEqual(['f\t644', 'scri']);
});
