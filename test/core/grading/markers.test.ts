import { expect, test } from 'vitest';
import { printsMarkers, readMarkers } from '#core/grading/markers.ts';

const setup = '##e2e-swe phase=setup at=1000.250';
const exit = '##e2e-swe setup-exit=7';
const tests = '##e2e-swe phase=tests at=1002.750';

test.each<[what: string, output: string, markers: ReturnType<typeof readMarkers>]>([
  ['all three', `${setup}\nnoise\n${exit}\n${tests}\n`, { setupMs: 2500, setupExit: 7, testsMs: 2250 }],
  ['CRLF', `${setup}\r\n${exit}\r\n${tests}\r\n`, { setupMs: 2500, setupExit: 7, testsMs: 2250 }],
  ['no tests phase: setup lasts to the end', setup, { setupMs: 4750 }],
  ['none', 'hello\n', {}],
  ['inside a line', `x ${setup}\necho "${exit}"\n`, {}],
  [
    'repeated: the first counts',
    `${setup}\n${tests}\n${setup.replace('1000', '1001')}\n${exit}\n${exit.replace('7', '0')}`,
    { setupMs: 2500, setupExit: 7, testsMs: 2250 },
  ],
  [
    'a clock that runs backwards',
    `${tests}\n${setup.replace('1000', '1004')}`,
    { setupMs: 0, testsMs: 2250 },
  ],
  ['no number', '##e2e-swe phase=setup at=soon\n##e2e-swe setup-exit=-1', {}],
])('%s', (_, output, markers) => {
  expect(readMarkers(output, 1_005_000)).toEqual(markers);
});

test('a script is known by what it prints', () => {
  expect(printsMarkers('echo "##e2e-swe phase=setup at=$(date +%s)"')).toBe(true);
  expect(printsMarkers('echo setup')).toBe(false);
});
