import { describe, expect, test } from 'vitest';
import type { TarHeader } from '#core/container/tarHeader.ts';
import { normaliseEntries, submissionCaps } from '#core/grading/normalise.ts';
import { NotGradedError } from '#core/grading/reasons.ts';
import { fileEntry, plainEntry } from '../container/tarTools.ts';

type Entries = Parameters<typeof normaliseEntries>[0];

interface Outcome {
  readonly names: readonly string[];
  readonly headers: readonly TarHeader[];
  readonly skipped: readonly string[];
}

/** Normalises what `app/…` holds. */
async function normalise(
  entries: readonly (ReturnType<typeof fileEntry> | ReturnType<typeof plainEntry>)[],
  rename: (name: string) => string | undefined = (name) => name,
): Promise<Outcome> {
  const skipped: string[] = [];
  const headers: TarHeader[] = [];
  async function* source() {
    yield* entries;
  }
  for await (const { header } of normaliseEntries(source() as Entries, {
    roots: ['app', 'srv/data'],
    rename,
    onSkipped: (name, what) => skipped.push(`${name} (${what})`),
  }))
    headers.push(header);
  return { names: headers.map(({ name }) => name), headers, skipped };
}

const link = (name: string, linkName: string) => plainEntry({ type: 'symlink', name, linkName });
const hard = (name: string, linkName: string) => plainEntry({ type: 'hardlink', name, linkName });
const folder = (name: string) => plainEntry({ type: 'directory', name });

describe('what is refused, by name', () => {
  test.each<[what: string, entries: Parameters<typeof normalise>[0], says: RegExp]>([
    ['a parent part', [fileEntry('app/../etc/passwd', 'x')], /"app\/\.\.\/etc\/passwd".*"\.\."/],
    ['a parent part at the start', [fileEntry('../x', 'x')], /"\.\.\/x"/],
    ['a name outside the roots', [fileEntry('etc/passwd', 'x')], /"etc\/passwd".*outside \/app, \/srv\/data/],
    ['a root as a prefix only', [fileEntry('apple', 'x')], /outside/],
    ['a name of 256 bytes', [fileEntry(`app/${'n'.repeat(256)}`, 'x')], /longer than 255/],
    ['a path beyond all paths', [fileEntry(`app/${'d/'.repeat(2100)}x`, 'x')], /longer than 4094/],
    ['a link to nothing', [link('app/l', '')], /"app\/l".*0 bytes/],
    ['a link to more than a path', [link('app/l', 'x'.repeat(4096))], /4096 bytes/],
    ['a NUL', [fileEntry('app/a\0b', 'x')], /NUL/],
    [
      'a write through a link',
      [link('app/l', '/etc'), fileEntry('app/l/passwd', 'x')],
      /"app\/l\/passwd".*parent "app\/l" is a link/,
    ],
    ['a write through a linked root', [link('app', '/etc'), fileEntry('app/passwd', 'x')], /parent "app"/],
    ['a file as a folder', [fileEntry('app/f', ''), fileEntry('app/f/x', '')], /is a file/],
    ['a hard link to the outside', [hard('app/h', '/etc/shadow')], /hard link to "\/etc\/shadow"/],
    ['a hard link upwards', [fileEntry('app/a', ''), hard('app/h', 'app/../app/a')], /no earlier file/],
    ['a hard link to what comes later', [hard('app/h', 'app/a'), fileEntry('app/a', '')], /no earlier file/],
    ['a hard link to a folder', [folder('app/d'), hard('app/h', 'app/d')], /no earlier file/],
    [
      'a link that takes the place of a folder',
      [fileEntry('app/d/x', ''), folder('app/d'), link('app/d', '/etc')],
      /takes the place of a folder/,
    ],
  ])('%s', async (_, entries, says) => {
    const failure = await normalise(entries).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotGradedError);
    expect((failure as NotGradedError).reason).toBe('submission-refused');
    expect((failure as NotGradedError).message).toMatch(says);
  });

  test('an absolute name is not moved into the workdir', async () => {
    const moved = normalise([fileEntry('/etc/passwd', 'x')], (name) => `app/${name}`);
    await expect(moved).rejects.toThrow(/"\/etc\/passwd" is refused: its name is absolute/);
    expect((await normalise([fileEntry('/app/x', 'x')])).names).toEqual(['app/x']);
  });

  test('more bytes than any submission has, before they are read', async () => {
    const huge = {
      ...fileEntry('app/huge', ''),
      header: { ...fileEntry('app/huge', '').header, size: submissionCaps.bytes + 1 },
    };
    await expect(normalise([huge])).rejects.toThrow(/larger than 32 GiB/);
  });

  test('more names than fit in memory', async () => {
    const names = Math.ceil(submissionCaps.nameBytes / 4000) + 1;
    async function* source() {
      for (let i = 0; i < names; i++) yield plainEntry({ name: `app/${i}`, linkName: 'x'.repeat(4000) });
    }
    const all = async (): Promise<void> => {
      for await (const _ of normaliseEntries(source(), {
        roots: ['app'],
        rename: (name) => name,
        onSkipped: () => undefined,
      }));
    };
    await expect(all()).rejects.toThrow(/names are more than 256 MiB/);
  });

  test('a long name is cut in the message', async () => {
    const failure = await normalise([fileEntry('x/'.repeat(1000), '')]).catch(
      (error: Error) => error.message,
    );
    expect((failure as string).length).toBeLessThan(300);
  });
});

describe('what is taken', () => {
  test('names lose "./" and doubled slashes; the archive root is no entry', async () => {
    const { names } = await normalise([folder('./'), folder('./app//d/'), fileEntry('app/./x', '')]);
    expect(names).toEqual(['app/d', 'app/x']);
  });

  test('times that no engine unpacks are the nearest that it does', async () => {
    const times = [-5, 0, 1e9, 9_223_372_036, 9_223_372_037, 2 ** 50];
    const { headers } = await normalise(times.map((mtime, i) => fileEntry(`app/${i}`, '', { mtime })));
    expect(headers.map(({ mtime }) => mtime)).toEqual([
      0, 0, 1e9, 9_223_372_036, 9_223_372_036, 9_223_372_036,
    ]);
  });

  test('links keep any target: absolute, upwards, dangling', async () => {
    const targets = ['/etc/passwd', '../../..', 'nowhere', '\xff'];
    const { headers } = await normalise(targets.map((target, i) => link(`app/l${i}`, target)));
    expect(headers.map(({ linkName }) => linkName)).toEqual(targets);
  });

  test('hard links follow a rename, and lose a size that they should not have', async () => {
    const sized = plainEntry({ type: 'hardlink', name: './h', linkName: './a', size: 99 });
    const { headers } = await normalise([fileEntry('a', 'x'), sized], (name) => `app/${name}`);
    expect(headers[1]).toMatchObject({ name: 'app/h', linkName: 'app/a', size: 0 });
  });

  test('a hard link to a symbolic link becomes a link of its own', async () => {
    const { headers } = await normalise([
      link('app/l', 'to'),
      hard('app/h', 'app/l'),
      hard('app/i', 'app/h'),
    ]);
    expect(headers.map(({ type, linkName }) => `${type} ${linkName}`)).toEqual(Array(3).fill('symlink to'));
  });

  test('devices, FIFOs and unknown entries are left out and told, with their other names', async () => {
    const { names, skipped } = await normalise([
      plainEntry({ type: 'fifo', name: 'app/p' }),
      plainEntry({ type: 'char', name: 'app/c', devMajor: 1, devMinor: 5 }),
      plainEntry({ type: 'block', name: 'app/b' }),
      plainEntry({ type: 'unknown', name: 'app/v', flag: 'V' }),
      hard('app/q', 'app/p'),
      fileEntry('app/f', ''),
    ]);
    expect(names).toEqual(['app/f']);
    expect(skipped).toEqual([
      'app/p (fifo)',
      'app/c (char)',
      'app/b (block)',
      'app/v (entry of type "V")',
      'app/q (another name of an entry that was left out)',
    ]);
  });

  test('repeated names, and a file or link that a later entry replaces', async () => {
    const { names } = await normalise([
      link('app/x', '/etc'),
      fileEntry('app/x', ''),
      fileEntry('app/x', ''),
      folder('app/y'),
      folder('app/y'),
    ]);
    expect(names).toEqual(['app/x', 'app/x', 'app/x', 'app/y', 'app/y']);
  });

  test('a name of 255 bytes that are no UTF-8, with setuid', async () => {
    const name = `app/${'\xe9'.repeat(255)}`;
    const { headers } = await normalise([fileEntry(name, '', { mode: 0o6755 })]);
    expect(headers[0]).toMatchObject({ name, mode: 0o6755 });
  });
});
