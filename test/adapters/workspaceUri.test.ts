import { expect, test } from 'vitest';
import { attemptUri, bytesToText, parseAttemptUri, textToBytes } from '#vscode/workspace/attemptUri.ts';

/** A small generator with a seed, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const name = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

test('every path of bytes has one address, and every address that path', () => {
  const next = random(7);
  const addresses = new Map<string, string>();
  for (let round = 0; round < 5_000; round++) {
    const length = 1 + Math.floor(next() * 12);
    const bytes = Array.from({ length }, () => {
      // Bytes around the private-use characters come often.
      const pool = [0xee, 0xbe, 0xbd, 0xbf, 0x80, 0xc3, 0xa9, 0x41, 0x0a, 0x20, 0x25, 0x3f, 0x5c];
      const byte =
        next() < 0.5 ? (pool[Math.floor(next() * pool.length)] as number) : Math.floor(next() * 255) + 1;
      return byte === 0x2f ? 0x2e : byte;
    });
    const path = Buffer.from(bytes).toString('latin1');
    if (path === '.' || path === '..') continue;
    const text = bytesToText(path);
    expect(() => encodeURIComponent(text), path).not.toThrow();
    expect(textToBytes(text)).toBe(path);
    expect(parseAttemptUri(attemptUri('abc123', path))).toEqual({ attemptId: 'abc123', path });
    expect(addresses.get(text) ?? path).toBe(path);
    addresses.set(text, path);
  }
});

test('UTF-8 names are themselves; other bytes are one character each', () => {
  expect(bytesToText(name('grüße 😀.py'))).toBe('grüße 😀.py');
  expect(bytesToText('a\xffb\xc3')).toBe('a\uefffb\uefc3');
  // A name that really holds such a character is not taken for a byte.
  expect(bytesToText(name('\uefff'))).toBe('\uefee\uefbf\uefbf');
  expect(textToBytes(bytesToText(name('\uefff')))).toBe(name('\uefff'));
});

test('addresses that no attempt can have', () => {
  expect(parseAttemptUri(attemptUri('abc123'))).toEqual({ attemptId: 'abc123', path: '' });
  expect(attemptUri('abc123').path).toBe('/abc123');
  for (const path of ['/', '/abc/../etc', '/abc/a/./b', '/abc/a\0b']) {
    expect(parseAttemptUri({ scheme: 'e2e-swe', path }), path).toBeUndefined();
  }
  expect(parseAttemptUri({ scheme: 'file', path: '/abc/a' })).toBeUndefined();
});
