import { describe, expect, test } from 'vitest';
import {
  decodeHeader,
  encodeHeader,
  fromBinary,
  isZeroBlock,
  padding,
  TarFormatError,
  toBinary,
} from '#core/container/tarHeader.ts';
import { header, rawBlock } from './tarTools.ts';

describe('one tar header', () => {
  test.each([
    ['a file with every mode bit', { mode: 0o7777, size: 12_345 }],
    ['owners beyond octal', { uid: 4_294_967_294, gid: 2_097_152 }],
    ['a file of 9 GiB', { size: 9 * 1024 ** 3 }],
    ['a time before 1970', { mtime: -86_400 }],
    ['a time after 2242', { mtime: 9_000_000_000 }],
    ['a symbolic link', { type: 'symlink' as const, linkName: '../x y' }],
    ['a hard link', { type: 'hardlink' as const, linkName: 'b' }],
    ['a folder', { type: 'directory' as const, mode: 0o1777 }],
    ['a device', { type: 'char' as const, devMajor: 1, devMinor: 3 }],
    ['a block device', { type: 'block' as const, devMajor: 259, devMinor: 1_048_575 }],
    ['a FIFO', { type: 'fifo' as const }],
    ['a name of exactly 100 bytes', { name: 'n'.repeat(100) }],
    ['a name that is no UTF-8', { name: 'caf\xe9\xff' }],
    ['a name with a newline', { name: 'line\nbreak' }],
  ])('keeps %s', (_, part) => {
    const wanted = header(part);
    const { flag: _flag, ...decoded } = decodeHeader(encodeHeader(wanted));
    const { flag: _unused, ...expected } = wanted;
    expect(decoded).toEqual(expected);
  });

  test('joins the ustar prefix, and takes none from a GNU header', () => {
    expect(decodeHeader(rawBlock({ name: 'c', prefix: 'a/b' })).name).toBe('a/b/c');
    expect(decodeHeader(rawBlock({ name: 'c', prefix: 'a/b', magic: 'ustar  \0' })).name).toBe('c');
  });

  test('a file whose name ends in a slash is a folder, as before ustar', () => {
    expect(decodeHeader(rawBlock({ name: 'd/', flag: '\0', magic: '' }))).toMatchObject({
      name: 'd',
      type: 'directory',
    });
  });

  test('reads base-256 numbers and numbers padded with blanks', () => {
    const size = Buffer.alloc(12);
    size.writeUInt8(0x80, 0);
    size.writeUIntBE(0x0102030405, 7, 5);
    expect(decodeHeader(rawBlock({ size })).size).toBe(0x0102030405);
    expect(decodeHeader(rawBlock({ uid: '   17 \0' })).uid).toBe(0o17);
  });

  test('refuses a negative size, which would send the reader backwards', () => {
    expect(() => rawBlock({ size: Buffer.alloc(12, 0xff) })).toThrow(TarFormatError);
  });

  test('refuses a damaged checksum, a changed byte and what is no number', () => {
    const block = encodeHeader(header({}));
    block[0] = 0x62;
    expect(() => decodeHeader(block)).toThrow(/checksum/);
    expect(() => rawBlock({ size: 'not a number' })).toThrow(TarFormatError);
  });

  test('does not write a type that it does not know', () => {
    expect(() => encodeHeader(header({ type: 'unknown', flag: 'Z' }))).toThrow(/"Z"/);
  });
});

test('binary strings go to people and back', () => {
  expect(fromBinary(toBinary('grün 🚀'))).toBe('grün 🚀');
  expect(fromBinary('caf\xe9.txt')).toBe('caf\\xe9.txt');
  expect(toBinary('é')).toBe('\xc3\xa9');
});

test('padding fills the last block', () => {
  expect([0, 1, 511, 512, 513].map(padding)).toEqual([0, 511, 1, 0, 511]);
  expect(isZeroBlock(Buffer.alloc(512))).toBe(true);
  expect(isZeroBlock(Buffer.alloc(512, 1))).toBe(false);
});
