import { describe, expect, it } from 'vitest';
import { fsErrorOf } from '#core/container/fsChannelErrors.ts';
import {
  parseList,
  parseScan,
  parseStat,
  parseStatLine,
  parseStatMany,
} from '#core/container/fsChannelReplies.ts';
import { compareScans } from '#core/container/fsChannelWatch.ts';
import { command, quote } from '#core/container/fsScript.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const gnu = '81a4 839 1795980287.000000001 1795980304.101713000 860299 0 34';
const busybox = '81a4 839 1795980287 1795980304 860299 0 34 2026-11-29 18:04:47.250000000 +0000';

describe('replies of the file channel', () => {
  it('reads a status of GNU and of busybox', () => {
    expect(parseStatLine(gnu, false)).toEqual({
      kind: 'file',
      symbolicLink: false,
      size: 839,
      mtimeMs: 1_795_980_287_000,
      ctimeMs: 1_795_980_304_101.713,
      mode: 0o644,
      uid: 0,
      gid: 34,
      inode: 860_299,
    });
    expect(parseStatLine(busybox, true)).toMatchObject({ symbolicLink: true, mtimeMs: 1_795_980_287_250 });
    for (const line of ['', 'x', '81a4 1 2 3', `${gnu} more`, 'stat: cannot statx'])
      expect(parseStatLine(line, false), line).toBeUndefined();
    expect(() => parseStat(bytes('rubbish\n'), '/a')).toThrow('/a');
  });

  it('tells a link from its target, and one that leads nowhere', () => {
    const link = gnu.replace('81a4', 'a1ff');
    expect(parseStat(bytes(`${link}\n${gnu}\n`), '/a')).toMatchObject({
      kind: 'file',
      symbolicLink: true,
      mode: 0o644,
    });
    expect(parseStat(bytes(`${link}\n`), '/a')).toMatchObject({ kind: 'other', symbolicLink: true });
  });

  it('asks again when a file came or went between two looks', () => {
    expect(parseStatMany(bytes(`e-l\n${gnu}\n${gnu}\n`), 3)).toMatchObject(
      [{ symbolicLink: false }, {}, { symbolicLink: true }].map((stat, index) =>
        index === 1 ? undefined : stat,
      ),
    );
    expect(parseStatMany(bytes(`ee\n${gnu}\nstat: cannot\n`), 2)).toMatchObject([{ size: 839 }, 'again']);
    expect(parseStatMany(bytes(`ee\n${gnu}\n`), 2)).toEqual(['again', 'again']);
    expect(parseStatMany(bytes('--\n'), 2)).toEqual([undefined, undefined]);
    expect(parseStatMany(bytes(''), 1)).toEqual(['again']);
  });

  it('reads names as they are, and leaves our temporary files out', () => {
    expect(parseList(bytes('f/a\nb/dl/\xff/u/ /f/.e2eswe-tmp.1/x/y/'))).toEqual([
      { name: 'a\nb', kind: 'file', symbolicLink: false },
      { name: '\xff', kind: 'directory', symbolicLink: true },
      { name: ' ', kind: 'other', symbolicLink: false },
    ]);
    expect(parseList(bytes(''))).toEqual([]);
  });

  it('reads a look at a tree, and knows when it is not whole', () => {
    const look =
      '//d 1 2 3 /w\n//f 4 5 6.7 /w/a\n/b\n//41ed 4 5 6 /w/d\n//f 1 1 1 /w/.e2eswe-tmp.x\n//= 1 /\n';
    expect([...(parseScan(bytes(look), '/w') ?? [])]).toEqual([
      ['/w/a\n/b', 'f 4 5 6.7'],
      ['/w/d', 'folder'],
    ]);
    expect(parseScan(bytes('//= 0 /\n'), '/w')?.size).toBe(0);
    expect(parseScan(bytes('//= 137 /\n'), '/w')).toBeUndefined();
    expect(parseScan(bytes('//f 4 5 6.7 /w/a\n'), '/w')).toBeUndefined();
    expect(parseScan(bytes(''), '/w')).toBeUndefined();
  });

  it('compares two looks', () => {
    const before = new Map(
      Object.entries({ '/a': '1', '/b': '1', '/c': 'folder', '/c/x': '1', '/same': '1' }),
    );
    const now = new Map(Object.entries({ '/a': '2', '/c': '1', '/new': '1', '/same': '1' }));
    expect(compareScans(before, now).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'deleted /b',
      'deleted /c',
      'deleted /c/x',
      'changed /a',
      'created /c',
      'created /new',
    ]);
  });

  it.each([
    ["stat: cannot statx '/a': No such file or directory", 'not-found'],
    ['sh: 1: cannot create /w/x: Directory nonexistent', 'not-found'],
    ["sh: can't create /w/x: nonexistent directory", 'not-found'],
    ["cat: can't open '/w/x': Permission denied", 'no-permission'],
    ['mkdir: cannot create directory ‘/a’: File exists', 'exists'],
    ['File exists', 'exists'],
    ['cat: write error: No space left on device', 'no-space'],
    ['rm: cannot remove /a: Read-only file system\nrm: more', 'no-permission'],
    ["mv: cannot stat '/w/Permission denied': Input/output error", 'other'],
    ["stat: 'x: File exists\ny': No such file or directory", 'not-found'],
    ['', 'other'],
  ])('takes %j for %s', (said, failure) => {
    expect(fsErrorOf(Buffer.from(said), '/a').failure).toBe(failure);
  });

  it('quotes what a shell would read', () => {
    expect(quote("/it's\n$(x)")).toBe(`'/it'\\''s'"$N"'$(x)'`);
    expect(command.scan('/w', ['node_modules', '*'])).toBe(
      "Z '/w' -xdev \\( -name 'node_modules' -o -name '\\*' \\) -prune -o",
    );
    expect(command.write('/a', 65_537, true, false)).toBe("W 1 1 65537 y n '/a'");
  });
});
