import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectEngine } from '#core/container/connect.ts';
import type { ContainerEngine, ContainerHandle } from '#core/container/engine.ts';
import { type ContainerTerminal, openTerminal, type TerminalSpec } from '#core/container/terminal.ts';

let engine: ContainerEngine;
let container: ContainerHandle;

beforeAll(async () => {
  engine = await connectEngine({ env: process.env });
  container = await engine.createContainer({
    name: `e2e-swe-test-terminal-${process.pid}`,
    image: 'debian:bookworm-slim',
    command: ['sleep', '600'],
    labels: {},
    network: 'none',
    cpus: null,
    memoryMb: null,
    pidsLimit: 500,
    init: true,
  });
  await container.start();
});

afterAll(async () => {
  await container.remove();
  engine.close();
});

describe('a container terminal', () => {
  it('is a shell of the right size, in colour, in UTF-8, in its folder', async () => {
    const { terminal, text } = await open({ cwd: '/var/tmp', cols: 101, rows: 33, env: { GREETING: 'hé' } });
    terminal.write('stty size; pwd; tput colors 2>/dev/null; echo "$TERM $COLORTERM $LANG $GREETING"; tty\r');
    await text.until(/33 101\s+\/var\/tmp/);
    await text.until(/xterm-256color truecolor C\.UTF-8 hé\s+\/dev\/pts\/\d/);
    await terminal.resize(77, 22);
    terminal.write("stty size; printf '\\033[31mred\\033[0m\\n'\r");
    await text.until(/22 77/);
    await text.until(/\[31mred.\[0m/);
    expect(text.all()).toContain('\x1b[31mred\x1b[0m');
    terminal.write('exit 7\r');
    expect(await terminal.exit).toBe(7);
    expect(text.all()).not.toContain('\ufffd');
  });

  it('never cuts a character', async () => {
    const { terminal, text } = await open({
      command: [
        'sh',
        '-c',
        "printf '\\342\\202'; sleep 0.2; printf '\\254|\\360\\237'; sleep 0.2; printf '\\230\\200|'",
      ],
    });
    expect(await terminal.exit).toBe(0);
    expect(text.all()).toBe('€|😀|');
  });

  it('runs a command as a user, and tells of a folder that is not there', async () => {
    const { terminal, text } = await open({
      command: ['sh', '-c', 'id -u; pwd; exit 3'],
      user: '65534',
      cwd: '/none',
    });
    expect(await terminal.exit).toBe(3);
    expect(text.all()).toBe('There is no folder /none.\r\n65534\r\n/\r\n');
  });

  it('says what the engine said when it cannot be opened', async () => {
    await expect(open({ user: 'nobody-of-that-name' })).rejects.toThrow(/nobody-of-that-name/);
    const missing = await open({ command: ['no-such-command'] });
    expect(await missing.terminal.exit).toBe(127);
    expect(missing.text.all()).toContain('no-such-command');
  });

  it('holds a flood back while paused, and Ctrl-C ends it at once', async () => {
    const { terminal, text } = await open({});
    const other = await open({});
    terminal.write("yes 'all work and no play'; echo over-$((6*7))\r");
    await text.until(/no play/);
    terminal.pause();
    await delay(300);
    const held = text.length();
    await delay(700);
    expect(text.length()).toBe(held);
    // The engine and another terminal are not held up.
    const echo = performance.now();
    other.terminal.write('echo pong-$((1+1))\r');
    await other.text.until(/pong-2/);
    expect(performance.now() - echo).toBeLessThan(3_000);
    terminal.resume();
    await delay(200);
    const pressed = performance.now();
    terminal.write('\x03');
    await text.until(/\n.*\$ |# $/);
    terminal.write('echo over-$((6*7))\r');
    await text.until(/over-42/);
    expect(performance.now() - pressed).toBeLessThan(3_000);
    await terminal.kill();
    await other.terminal.kill();
  });

  it('leaves nothing of its session when it is killed, paused or not', async () => {
    const { terminal, text } = await open({});
    terminal.write('sleep 4321 & (trap "" HUP; exec sleep 4322) & yes >/dev/null & echo ready-$((1+1))\r');
    await text.until(/ready-2/);
    expect(await sleepers()).toBe(3);
    await terminal.kill();
    expect(await sleepers()).toBe(0);
    expect(await terminal.exit).not.toBe(0);

    const flood = await open({ command: ['yes'] });
    await flood.text.until(/y/);
    flood.terminal.pause();
    await delay(200);
    await flood.terminal.kill();
    expect(await sleepers()).toBe(0);
    await flood.terminal.resize(1, 1);
    flood.terminal.write('x');
  });

  const sleepers = async (): Promise<number> =>
    (await container.processes()).filter((line) => /^(sleep 43|yes)/.test(line)).length;
});

interface Text {
  all(): string;
  length(): number;
  until(pattern: RegExp): Promise<void>;
}

async function open(spec: Partial<TerminalSpec>): Promise<{ terminal: ContainerTerminal; text: Text }> {
  const terminal = await openTerminal(container, { cwd: '/', cols: 80, rows: 24, ...spec });
  let text = '';
  let length = 0;
  terminal.onData((data) => {
    text = (text + data).slice(-100_000);
    length += data.length;
  });
  return {
    terminal,
    text: {
      all: () => text,
      length: () => length,
      async until(pattern) {
        for (const end = Date.now() + 60_000; !pattern.test(text); await delay(5))
          if (Date.now() > end) throw new Error(`No ${pattern} in ${JSON.stringify(text.slice(-2_000))}`);
      },
    },
  };
}
