import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Emitter } from '#core/base/event.ts';
import type { ContainerTerminal } from '#core/container/terminal.ts';
import { setupReport } from '#vscode/attempts/trySetup.ts';
import { ContainerPty } from '#vscode/terminal/containerPty.ts';
import { OutputPacer, skippedMarker } from '#vscode/terminal/outputPacer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function makePacer() {
  const state = { shown: '', paused: false, largest: 0 };
  const pacer = new OutputPacer(
    {
      write: (text) => {
        state.shown += text;
        state.largest = Math.max(state.largest, text.length);
      },
      pause: () => {
        state.paused = true;
      },
      resume: () => {
        state.paused = false;
      },
    },
    () => Date.now(),
  );
  return { pacer, state };
}

test('an echo is shown at once, and text in its order', () => {
  const { pacer, state } = makePacer();
  pacer.push('a');
  expect(state.shown).toBe('a');
  pacer.push('b');
  vi.advanceTimersByTime(20);
  pacer.push('c');
  vi.advanceTimersByTime(20);
  expect(state.shown).toBe('abc');
});

test('output of a usual size is shown whole, in pieces', async () => {
  const { pacer, state } = makePacer();
  const text = 'line 😀 of a build\n'.repeat(20_000);
  pacer.push(text.slice(0, 10));
  pacer.push(text.slice(10));
  expect(state.paused).toBe(true);
  const done = pacer.finish();
  await vi.advanceTimersByTimeAsync(2_000);
  await done;
  expect(state.shown).toBe(text);
  expect(state.largest).toBeLessThan(20_000);
  expect(state.paused).toBe(false);
});

test('a flood is skipped at lines, which is marked, and its end is shown', async () => {
  const { pacer, state } = makePacer();
  for (let at = 0; at < 400; at++) pacer.push(`${'y'.repeat(99)}\n`.repeat(100));
  pacer.push('the end\n');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(state.shown).toMatch(/\[\d\.\d MB of output not shown\]/);
  expect(state.shown.length).toBeLessThan(1_500_000);
  expect(state.shown.endsWith('the end\n')).toBe(true);
  const afterMarker = state.shown.split('not shown]\u001b[0m\r\n').at(-1) ?? '';
  expect(afterMarker.startsWith(`${'y'.repeat(99)}\n`)).toBe(true);
});

test('Ctrl-C in a flood: what is on its way is dropped, the prompt comes at once', async () => {
  const { pacer, state } = makePacer();
  for (let at = 0; at < 50; at++) pacer.push('y\n'.repeat(10_000));
  expect(state.paused).toBe(true);
  pacer.interrupt();
  expect(state.paused).toBe(false);
  for (let at = 0; at < 65; at++) pacer.push('y\n'.repeat(10_000));
  pacer.push('^C\n$ ');
  await vi.advanceTimersByTimeAsync(150);
  expect(state.shown.endsWith('^C\n$ ')).toBe(true);
  expect(state.paused).toBe(false);
  // The mark stands right before what is left.
  expect(state.shown.split('of output not shown]').at(-1)?.length).toBeLessThan(5_000);
  expect(state.shown.split('of output not shown]')).toHaveLength(2);
});

test('a program that floods on after Ctrl-C is shown again after a second', async () => {
  const { pacer, state } = makePacer();
  for (let at = 0; at < 50; at++) pacer.push('y\n'.repeat(10_000));
  pacer.interrupt();
  const before = state.shown.length;
  for (let at = 0; at < 90; at++) {
    pacer.push('z\n'.repeat(1_000));
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(state.shown.length).toBe(before);
  for (let at = 0; at < 30; at++) {
    pacer.push('z\n'.repeat(1_000));
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(state.shown.length).toBeGreaterThan(before + 10_000);
  pacer.dispose();
});

test('how much was skipped, in words', () => {
  expect(skippedMarker(1_250_000)).toContain('[1.3 MB of output not shown]');
  expect(skippedMarker(20)).toContain('[1 KB of output not shown]');
});

function makePty() {
  const data = new Emitter<string>();
  const calls: string[] = [];
  let end: (code: number | undefined) => void = () => undefined;
  const terminal: ContainerTerminal = {
    onData: data.event,
    exit: new Promise((resolve) => {
      end = resolve;
    }),
    write: (text) => calls.push(`write ${JSON.stringify(String(text))}`),
    resize: async (cols, rows) => void calls.push(`resize ${cols}x${rows}`),
    pause: () => undefined,
    resume: () => undefined,
    kill: async () => undefined,
    dispose: () => calls.push('dispose'),
  };
  const state = {
    shown: '',
    closed: undefined as string | undefined,
    frozen: undefined as string | undefined,
    thaw: (): void => undefined,
  };
  const pty = new ContainerPty({
    open: async ({ cols, rows }) => {
      calls.push(`open ${cols}x${rows}`);
      return terminal;
    },
    frozenBecause: () => state.frozen,
    whenThawed: () =>
      state.frozen === undefined
        ? Promise.resolve(true)
        : new Promise((resolve) => {
            state.thaw = () => {
              state.frozen = undefined;
              resolve(true);
            };
          }),
  });
  pty.onDidWrite((text) => {
    state.shown += text;
  });
  pty.onDidClose((code) => {
    state.closed = String(code);
  });
  return { pty, data, calls, state, end: (code: number | undefined) => end(code) };
}

test('a terminal: early typing, size, echo, exit code', async () => {
  const { pty, data, calls, state, end } = makePty();
  pty.open({ columns: 100, rows: 30 });
  pty.handleInput('ls\n');
  pty.setDimensions({ columns: 120, rows: 40 });
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toEqual(['open 100x30', 'resize 120x40', 'write "ls\\n"']);
  data.fire('a.txt\r\n');
  expect(state.shown).toBe('a.txt\r\n');
  end(3);
  await vi.advanceTimersByTimeAsync(50);
  expect(state.closed).toBe('3');
});

test('a lost container is told, and the terminal stays until a key is pressed', async () => {
  const { pty, state, end } = makePty();
  pty.open(undefined);
  await vi.advanceTimersByTimeAsync(0);
  end(undefined);
  await vi.advanceTimersByTimeAsync(50);
  expect(state.shown).toContain('The connection to the container was lost.');
  expect(state.closed).toBeUndefined();
  pty.handleInput('x');
  expect(state.closed).toBe('undefined');
});

test('frozen: what is typed waits, which is said once a freeze, and is typed once it is thawed', async () => {
  const { pty, calls, state } = makePty();
  pty.open({ columns: 80, rows: 24 });
  await vi.advanceTimersByTimeAsync(0);
  state.frozen = 'Frozen for a grade.';
  pty.handleInput('a');
  pty.handleInput('b');
  expect(state.shown.match(/Frozen for a grade. What you type waits./g)).toHaveLength(1);
  expect(calls).toEqual(['open 80x24']);
  state.thaw();
  // Before the thaw has come to it, too, everything stays in order.
  pty.handleInput('c');
  await vi.advanceTimersByTimeAsync(0);
  pty.handleInput('d');
  expect(calls).toEqual(['open 80x24', 'write "abc"', 'write "d"']);
  state.frozen = 'Frozen for a grade.';
  pty.handleInput('rm -r x');
  pty.handleInput('\u0003');
  pty.handleInput('ls\n');
  expect(state.shown.match(/Frozen for a grade/g)).toHaveLength(2);
  state.thaw();
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.at(-1)).toBe('write "\\u0003ls\\n"');
  pty.close();
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.at(-1)).toBe('dispose');
});

test('a terminal that is opened while it is frozen says so, and opens after the thaw', async () => {
  const { pty, calls, state } = makePty();
  state.frozen = 'Frozen for a grade.';
  pty.open({ columns: 80, rows: 24 });
  const thaw = state.thaw;
  pty.handleInput('ls\n');
  await vi.advanceTimersByTimeAsync(0);
  expect(state.shown.match(/Frozen for a grade/g)).toHaveLength(1);
  expect(calls).toEqual([]);
  thaw();
  state.thaw();
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toEqual(['open 80x24', 'write "ls\\n"']);
});

test('how setup.sh ended', () => {
  expect(setupReport({ exitCode: 0, durationMs: 2_100, changed: [] })).toMatch(
    /succeeded after 2 s.*changed nothing/,
  );
  expect(setupReport({ exitCode: 7, durationMs: 90, changed: ['/app/\u001b[31mx'] })).toMatch(
    /failed with exit code 7.*\r\n {2}\/app\/\\u001b\[31mx/s,
  );
});
