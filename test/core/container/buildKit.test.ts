import { describe, expect, test } from 'vitest';
import { decodeBuildKitStatus } from '#core/container/buildKitStatus.ts';
import { followProgress } from '#core/container/buildProgress.ts';
import { EngineError } from '#core/container/engine.ts';

/** A protobuf field: number and value (text, bytes, or a varint). */
function field(number: number, value: string | Buffer | number): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
  const data = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(data.length), data]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const step = (name: string, more: readonly Buffer[] = []): Buffer =>
  field(1, Buffer.concat([field(1, 'sha256:digest'), field(3, name), ...more]));
const started = field(5, field(1, 1_700_000_000));
const output = (text: string): Buffer =>
  field(3, Buffer.concat([field(1, 'v'), field(2, field(1, 5)), field(3, 1), field(4, text)]));

function trace(...parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString('base64');
}

describe("BuildKit's status", () => {
  test('gives steps, what they print, and errors', () => {
    const aux = trace(
      step('[1/2] FROM x', [started]),
      step('[2/2] RUN y', [field(7, 'exit code: 7')]),
      output('hi 🚀\n'),
    );
    expect(decodeBuildKitStatus(aux)).toEqual({
      steps: [
        { name: '[1/2] FROM x', started: true, error: '' },
        { name: '[2/2] RUN y', started: false, error: 'exit code: 7' },
      ],
      output: ['hi 🚀\n'],
    });
  });

  test('steps over fields of every wire type that it does not know', () => {
    const unknown = Buffer.concat([
      field(9, 2 ** 40),
      Buffer.concat([varint(10 * 8 + 1), Buffer.alloc(8, 1)]),
      Buffer.concat([varint(11 * 8 + 5), Buffer.alloc(4, 1)]),
      field(2, 'a status'),
    ]);
    expect(decodeBuildKitStatus(trace(unknown, output('x'))).output).toEqual(['x']);
  });

  test('long messages, and bytes that are cut or nonsense', () => {
    const long = 'y'.repeat(70_000);
    expect(decodeBuildKitStatus(trace(output(long))).output).toEqual([long]);
    const whole = Buffer.concat([step('a', [started]), output('b')]);
    for (let length = 0; length < whole.length; length++)
      expect(() => decodeBuildKitStatus(whole.subarray(0, length).toString('base64'))).not.toThrow();
    expect(decodeBuildKitStatus('')).toEqual({ steps: [], output: [] });
    expect(() => decodeBuildKitStatus(Buffer.alloc(64, 0xff).toString('base64'))).not.toThrow();
  });
});

async function* lines(...events: readonly (object | string)[]): AsyncGenerator<Buffer> {
  for (const event of events)
    yield Buffer.from(`${typeof event === 'string' ? event : JSON.stringify(event)}\r\n`);
}

async function follow(
  failure: 'build-failed' | 'pull-failed',
  ...events: readonly (object | string)[]
): Promise<{ said: string[]; error?: EngineError }> {
  const said: string[] = [];
  try {
    await followProgress(lines(...events), failure, (text) => said.push(text));
    return { said };
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    return { said, error: error as EngineError };
  }
}

describe('following a build or pull', () => {
  test('the classic builder: lines as they come, but for empty ones and the ids of layers', async () => {
    const { said } = await follow(
      'build-failed',
      { stream: 'Step 1/2 : FROM x\n' },
      { stream: '\n' },
      { stream: ' ---> a\nb\n' },
      { aux: { ID: 'sha256:x' } },
    );
    expect(said).toEqual(['Step 1/2 : FROM x', 'b']);
  });

  test('a pull: layers with their progress', async () => {
    const { said } = await follow('pull-failed', {
      status: 'Downloading',
      id: 'abc',
      progress: '[=>  ] 1MB/2MB',
      progressDetail: { current: 1 },
    });
    expect(said).toEqual(['abc Downloading [=>  ] 1MB/2MB']);
  });

  test('an error event is the failure, with the last lines, though the stream ends well', async () => {
    const prints = Array.from({ length: 30 }, (_, i) => ({ stream: `line ${i}\n` }));
    const { error } = await follow('build-failed', ...prints, {
      errorDetail: { code: 7, message: 'The command returned a non-zero code: 7' },
      error: 'The command returned a non-zero code: 7',
    });
    expect(error?.failure).toBe('build-failed');
    expect(error?.message).toMatch(/^The command returned a non-zero code: 7\nline 10\n[\s\S]*line 29$/);
  });

  test('a base image that cannot be pulled is told from a Dockerfile that does not build', async () => {
    const at = (from: string) =>
      follow('build-failed', { stream: `Step 1/3 : ${from}\n` }, { error: 'pull access denied for nowhere' });
    expect((await at('FROM --platform=linux/amd64 nowhere:1 AS build')).error).toMatchObject({
      failure: 'pull-failed',
      message: expect.stringContaining('base image nowhere:1 is not on this machine'),
    });
    expect((await at('RUN FROM nowhere')).error?.failure).toBe('build-failed');
    const parse = await follow(
      'build-failed',
      { id: 'moby.buildkit.trace', aux: trace(step('[internal] load metadata for base:1', [started])) },
      { error: 'failed to solve: failed to create LLB definition: dockerfile parse error line 2' },
    );
    expect(parse.error?.failure).toBe('build-failed');
  });

  test('an error without details, of a pull', async () => {
    const { error } = await follow('pull-failed', { error: 'toomanyrequests' });
    expect(error).toMatchObject({ failure: 'pull-failed', message: 'toomanyrequests' });
  });

  test('BuildKit: each step once, output, errors', async () => {
    const event = (...parts: readonly Buffer[]) => ({ id: 'moby.buildkit.trace', aux: trace(...parts) });
    const { said } = await follow(
      'build-failed',
      event(step('[1/1] RUN x', [started])),
      event(step('[1/1] RUN x', [started]), output('out\n')),
      event(step('[1/1] RUN x', [started, field(7, 'exit code: 1')])),
    );
    expect(said).toEqual(['[1/1] RUN x', 'out', 'ERROR: exit code: 1']);
  });

  test('what is no event is passed over', async () => {
    const { said } = await follow(
      'build-failed',
      'no json',
      '[1]',
      '',
      { stream: 5 },
      { id: 'moby.buildkit.trace', aux: 5 },
      { stream: 'x' },
    );
    expect(said).toEqual(['x']);
  });
});
