import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ContainerHandle, InteractiveSpec } from '#core/container/engine.ts';
import { FsChannel } from '#core/container/fsChannel.ts';
import { FsConnection } from '#core/container/fsChannelConnection.ts';

/** How the container's end answers a line; undefined ends its process. */
type Answer = (nonce: string, command: string) => string | undefined;

/** A container whose channel is a function; replies leave in pieces of `piece` bytes, in the engine's frames. */
function fakeContainer(
  answer: Answer,
  piece = 1_000_000,
): { container: ContainerHandle; opened: () => number } {
  let opened = 0;
  const interact = async (_: InteractiveSpec): Promise<{ stream: Duplex }> => {
    opened++;
    let input = '';
    const stream = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        input += chunk.toString('latin1');
        for (let end = input.indexOf('\n'); end >= 0; end = input.indexOf('\n')) {
          const [nonce = '', ...words] = input.slice(0, end).split(' ');
          input = input.slice(end + 1);
          const reply = words[0] === 'P' ? `77\n\0${nonce} 0\n` : answer(nonce, words.join(' '));
          if (reply === undefined) {
            stream.push(null);
            break;
          }
          send(stream, Buffer.from(reply, 'latin1'), piece);
        }
        done();
      },
      final(done) {
        stream.push(null);
        done();
      },
    });
    return { stream };
  };
  const exec = () => Promise.resolve({ exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) });
  return { container: { interact, exec } as unknown as ContainerHandle, opened: () => opened };
}

function send(stream: Duplex, data: Buffer, piece: number): void {
  for (let at = 0; at < data.length; at += piece) {
    const part = data.subarray(at, at + piece);
    const header = Buffer.alloc(8);
    header[0] = 1;
    header.writeUInt32BE(part.length, 4);
    stream.push(Buffer.concat([header, part]));
  }
}

describe('the host’s end of the file channel', () => {
  it.each([1, 2, 7, 33, 1_000])('finds the end of a reply in pieces of %i bytes', async (piece) => {
    const { container } = fakeContainer(
      (nonce, command) => `\0${nonce.slice(0, -1)} 0\n<${command}>\0${nonce} 3\n`,
      piece,
    );
    const connection = await FsConnection.open(container, undefined);
    const ask = async (command: string): Promise<[number, string]> => {
      let text = '';
      const nonce = connection.makeNonce();
      const code = await connection.request({
        command,
        nonce,
        deadlineMs: 1_000,
        onData: (data) => {
          text += data.toString('latin1');
        },
      });
      return [code, text.replace(nonce.slice(0, -1), 'nearly')];
    };
    expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual([
      [3, '\0nearly 0\n<a>'],
      [3, '\0nearly 0\n<b>'],
      [3, '\0nearly 0\n<c>'],
    ]);
    await connection.close();
  });

  it('asks again what may be asked twice, once, and never writes twice', async () => {
    let left = 1;
    const { container, opened } = fakeContainer((nonce) => (left-- > 0 ? undefined : `1\n\0${nonce} 0\n`));
    const files = new FsChannel(container);
    const restarts: string[] = [];
    files.onDidRestart(({ lane, interrupted }) => restarts.push(`${lane} ${interrupted}`));
    expect(await files.exists('/a')).toBe(true);
    expect([opened(), restarts]).toEqual([2, ['files 1']]);
    left = 2;
    await expect(files.exists('/a')).rejects.toMatchObject({ failure: 'unavailable' });
    left = 1;
    await expect(files.mkdir('/a')).rejects.toMatchObject({ failure: 'unavailable' });
    await files.mkdir('/a');
    expect(left).toBeLessThan(0);
    await files.close();
  });

  it('breaks off when it is out of step', async () => {
    const { container } = fakeContainer((nonce) => `1\n\0${nonce} 0\nmore than was asked for`);
    const connection = await FsConnection.open(container, undefined);
    const request = { command: 'x', deadlineMs: 1_000, onData: () => undefined };
    await connection.request({ ...request, nonce: connection.makeNonce() });
    expect((await connection.ended).message).toContain('nobody asked for');
    await expect(connection.request({ ...request, nonce: connection.makeNonce() })).rejects.toThrow('nobody');
  });

  it('names an engine that has no such shell, and one that cannot be reached', async () => {
    const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    stream.push('OCI runtime exec failed: exec: "sh": executable file not found in $PATH: unknown\r\n');
    stream.push(null);
    const none = {
      interact: () => Promise.resolve({ stream }),
      exec: () => Promise.reject(new Error('gone')),
    };
    await expect(new FsChannel(none as unknown as ContainerHandle).mkdir('/a')).rejects.toMatchObject({
      failure: 'unavailable',
      detail: expect.stringContaining('executable file not found'),
    });
    const down = { interact: () => Promise.reject(new Error('Container is paused')) };
    await expect(new FsChannel(down as unknown as ContainerHandle).stat('/a')).rejects.toMatchObject({
      failure: 'unavailable',
      detail: 'Container is paused',
    });
  });

  it('keeps a reply within bounds, and lets a cancelled caller go while others wait', async () => {
    const { container } = fakeContainer((nonce, command) =>
      command.startsWith('R') ? `${'x'.repeat(200)}\0${nonce} 0\n` : `1\n\0${nonce} 0\n`,
    );
    const files = new FsChannel(container);
    await expect(files.read('/a', { maxBytes: 100 })).rejects.toMatchObject({ failure: 'too-large' });
    const stops = Array.from({ length: 100 }, () => new AbortController());
    const many = Array.from({ length: 100 }, (_, index) =>
      files
        .exists(`/${index}`, { signal: index % 2 ? stops[index]?.signal : undefined })
        .catch((error: Error) => error.name),
    );
    for (const [index, stop] of stops.entries()) if (index % 2) stop.abort();
    const answers = await Promise.all(many);
    expect(answers.filter((answer) => answer === true)).toHaveLength(50);
    expect(answers.filter((answer) => answer === 'CancelledError')).toHaveLength(50);
    await files.close();
  });
});
