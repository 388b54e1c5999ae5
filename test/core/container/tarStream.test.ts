import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { TarFormatError } from '#core/container/tarHeader.ts';
import { bodyOf, collectBody, noBody, readTar, writeTar } from '#core/container/tarStream.ts';
import {
  bytesOf,
  chunksOf,
  endOfArchive,
  fileEntry,
  header,
  pack,
  padded,
  pax,
  plainEntry,
  rawBlock,
  unpack,
} from './tarTools.ts';

/** Bytes of this process that something still holds. */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let i = 0; i < 3; i++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('writing and reading', () => {
  test('long names and link targets of any bytes survive, in any chunks', async () => {
    const deep = `${'d\xff/'.repeat(300)}leaf\n`;
    const archive = await pack([
      fileEntry(deep, 'hello'),
      plainEntry({ type: 'symlink', name: 's'.repeat(101), linkName: '\xfe'.repeat(4000) }),
      plainEntry({ type: 'hardlink', name: 'h', linkName: deep }),
      plainEntry({ type: 'directory', name: 'e'.repeat(100) }),
    ]);
    for (const cut of [[65_536], [1], [511, 513, 7], [512]]) {
      const entries = await unpack(archive, cut);
      expect(entries.map(({ header: { name, linkName } }) => [name, linkName])).toEqual([
        [deep, ''],
        ['s'.repeat(101), '\xfe'.repeat(4000)],
        ['h', deep],
        ['e'.repeat(100), ''],
      ]);
      expect(entries[0]?.data.toString()).toBe('hello');
    }
  });

  test('a long name whose hundredth byte is a slash is a file like others', async () => {
    const name = `${'d/'.repeat(50)}f`;
    const archive = await pack([fileEntry(name, 'content'), fileEntry('after', 'x')]);
    expect(
      (await unpack(archive)).map(({ header: found, data }) => [found.name, found.type, `${data}`]),
    ).toEqual([
      [name, 'file', 'content'],
      ['after', 'file', 'x'],
    ]);
  });

  test('a body that is left unread, wholly or in part, is skipped', async () => {
    const archive = await pack([fileEntry('a', 'x'.repeat(2000)), fileEntry('b', 'y'), fileEntry('c', 'z')]);
    const seen: string[] = [];
    for await (const entry of readTar(chunksOf(archive, [700]))) {
      if (entry.header.name === 'a') for await (const _ of entry.body) break;
      if (entry.header.name === 'c') seen.push((await bytesOf(entry.body)).toString());
      seen.push(entry.header.name);
    }
    expect(seen).toEqual(['a', 'b', 'z', 'c']);
  });

  test('a body of another size than its header is an error, not a damaged archive', async () => {
    const short = { header: header({ size: 10 }), body: bodyOf(Buffer.from('nine byte')) };
    const long = { header: header({ size: 1 }), body: bodyOf(Buffer.from('two')) };
    await expect(pack([short])).rejects.toThrow(/9 bytes instead of 10/);
    await expect(pack([long])).rejects.toThrow(TarFormatError);
  });

  test('what stands behind the end mark is drained, not read', async () => {
    const source = chunksOf(
      Buffer.concat([await pack([fileEntry('a', 'x')]), Buffer.alloc(30_000, 7)]),
      [999],
    );
    const names: string[] = [];
    for await (const { header: found } of readTar(source)) names.push(found.name);
    expect(names).toEqual(['a']);
    expect((await source.next()).done).toBe(true);
  });

  test('collectBody keeps to its cap', async () => {
    const ten = bodyOf(Buffer.alloc(10));
    expect((await collectBody(ten, 10))?.length).toBe(10);
    expect(await collectBody(bodyOf(Buffer.alloc(11)), 10)).toBeUndefined();
    expect((await collectBody(noBody, 0))?.length).toBe(0);
  });
});

describe('PAX', () => {
  test('records override the header, and only that of the next entry', async () => {
    const archive = Buffer.concat([
      pax('x', {
        path: `${'long/'.repeat(60)}caf\xe9`,
        linkpath: 'ignored',
        uid: '3000000',
        gid: '3000001',
        mtime: '1700000000.987654321',
        size: '3',
        comment: 'a=b=c',
      }),
      rawBlock({ size: '00000000000\0' }),
      padded('abc'),
      rawBlock({ name: 'next' }),
      endOfArchive,
    ]);
    const [first, second] = await unpack(archive);
    expect(first?.header).toMatchObject({
      name: `${'long/'.repeat(60)}caf\xe9`,
      uid: 3_000_000,
      gid: 3_000_001,
      mtime: 1_700_000_000,
      size: 3,
    });
    expect(first?.data.toString()).toBe('abc');
    expect(second?.header).toMatchObject({ name: 'next', uid: 0 });
  });

  test('global records hold until another says otherwise; a local one wins', async () => {
    const archive = Buffer.concat([
      pax('g', { uid: '7', gid: '8', comment: '0123456789abcdef' }),
      rawBlock({ name: 'one' }),
      pax('x', { uid: '9' }),
      rawBlock({ name: 'two' }),
      pax('g', { uid: '10' }),
      rawBlock({ name: 'three' }),
      endOfArchive,
    ]);
    const entries = await unpack(archive);
    expect(entries.map(({ header: { name, uid, gid } }) => [name, uid, gid])).toEqual([
      ['one', 7, 8],
      ['two', 9, 8],
      ['three', 10, 8],
    ]);
  });

  test('an empty value takes a record back', async () => {
    const archive = Buffer.concat([
      pax('x', { path: '', uid: '' }),
      rawBlock({ name: 'kept' }),
      endOfArchive,
    ]);
    expect((await unpack(archive))[0]?.header).toMatchObject({ name: 'kept', uid: 0 });
  });

  test('a path that ends in a slash is a folder', async () => {
    const archive = Buffer.concat([
      pax('x', { path: 'd/' }),
      rawBlock({ name: 'd', flag: '0' }),
      endOfArchive,
    ]);
    expect((await unpack(archive))[0]?.header).toMatchObject({ name: 'd', type: 'directory' });
  });

  test.each([
    ['a wrong length', Buffer.from('99 path=x\n')],
    ['no length', Buffer.from('path=x\n')],
    ['a length of nothing', Buffer.from('0 path=x\n')],
  ])('refuses a record with %s', async (_, content) => {
    const size = `${content.length.toString(8).padStart(11, '0')}\0`;
    const archive = Buffer.concat([
      rawBlock({ flag: 'x', size }),
      padded(content),
      rawBlock({}),
      endOfArchive,
    ]);
    await expect(unpack(archive)).rejects.toThrow(/PAX record/);
  });

  test.each(['-1', 'many', '1e400'])('refuses the size %s', async (size) => {
    const archive = Buffer.concat([pax('x', { size }), rawBlock({}), endOfArchive]);
    await expect(unpack(archive)).rejects.toThrow(TarFormatError);
  });
});

describe('damage', () => {
  test.each([
    ['in a header', 200],
    ['in a file', 512 + 700],
    ['in its padding', 512 + 1500 + 10],
    ['before the end mark', 2048],
  ])('a cut %s is noticed', async (_, length) => {
    const archive = await pack([fileEntry('a', 'x'.repeat(1500))]);
    await expect(unpack(archive.subarray(0, length))).rejects.toThrow(TarFormatError);
  });

  test('bytes that are no tar are refused', async () => {
    await expect(unpack(Buffer.from('PK\x03\x04'.repeat(300)))).rejects.toThrow(/no tar/);
    await expect(unpack(Buffer.from('short'))).rejects.toThrow(TarFormatError);
    await expect(unpack(Buffer.alloc(0))).rejects.toThrow(TarFormatError);
  });

  test('a name record of megabytes is refused before it is read', async () => {
    const huge = Buffer.concat([rawBlock({ flag: 'L', size: '77777777777\0' }), padded('x')]);
    await expect(unpack(huge)).rejects.toThrow(/refused/);
  });

  test('records that nobody asks for are not held, however many', async () => {
    const value = 'x'.repeat(1_000_000);
    async function* bomb(): AsyncGenerator<Buffer> {
      for (let i = 0; i < 60; i++) yield pax('g', { [`comment${i}`]: value });
      yield rawBlock({ name: 'after' });
      yield endOfArchive;
    }
    const before = await heldBytes();
    for await (const { header: found } of readTar(bomb())) {
      expect(found.name).toBe('after');
      expect((await heldBytes()) - before).toBeLessThan(10 * 1024 ** 2);
    }
  });

  test('sparse files are refused in both writings', async () => {
    await expect(unpack(Buffer.concat([rawBlock({ flag: 'S' }), endOfArchive]))).rejects.toThrow(/sparse/);
    const posix = Buffer.concat([pax('x', { 'GNU.sparse.major': '1' }), rawBlock({}), endOfArchive]);
    await expect(unpack(posix)).rejects.toThrow(/sparse/);
  });

  test('an entry of an unknown type is told, and its content stepped over', async () => {
    const archive = Buffer.concat([
      rawBlock({ name: 'label', flag: 'V', size: '00000000003\0' }),
      padded('abc'),
      rawBlock({ name: 'after' }),
      endOfArchive,
    ]);
    const entries = await unpack(archive);
    expect(entries.map(({ header: { name, type } }) => [name, type])).toEqual([
      ['label', 'unknown'],
      ['after', 'file'],
    ]);
  });
});

test('writing is pulled: nothing is read ahead of the reader', async () => {
  let produced = 0;
  async function* entries() {
    for (let i = 0; i < 100; i++) {
      produced++;
      yield fileEntry(`f${i}`, 'x');
    }
  }
  const writer = writeTar(entries());
  await writer.next();
  await writer.next();
  expect(produced).toBe(1);
  await writer.return(undefined);
});
