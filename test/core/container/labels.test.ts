import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  currentOwner,
  formatOwner,
  gradeLabels,
  isDeadOwner,
  keepLabel,
  ownerLabel,
  parseOwner,
  workbenchLabel,
} from '#core/container/labels.ts';

/** The pid of a process that has ended and was waited for. */
function deadPid(): number {
  return spawnSync('true').pid;
}

describe('the owner of a container', () => {
  test('survives being written and read, also with bars in the host', () => {
    const owner = currentOwner();
    expect(parseOwner(formatOwner(owner))).toEqual(owner);
    const odd = { host: 'a|b/c', pid: 12, startTime: '99' };
    expect(parseOwner(formatOwner(odd))).toEqual(odd);
  });

  test.each([undefined, '', 'host', 'host|x|1', 'host|1'])('%j names none', (text) => {
    expect(parseOwner(text)).toBeUndefined();
  });

  test('we are alive; a process of this host that ended is dead', () => {
    expect(isDeadOwner(currentOwner())).toBe(false);
    expect(isDeadOwner({ ...currentOwner(), pid: deadPid() })).toBe(true);
  });

  test('a pid that another process has by now is dead', () => {
    expect(isDeadOwner({ ...currentOwner(), startTime: '1' })).toBe(process.platform === 'linux');
  });

  test('a doubt keeps it: another host, another boot, an unknown start', () => {
    const dead = { ...currentOwner(), pid: deadPid() };
    expect(isDeadOwner({ ...dead, host: `${dead.host}x` })).toBe(false);
    expect(isDeadOwner({ ...dead, host: dead.host.replace(/.$/, '?') })).toBe(false);
    expect(isDeadOwner({ ...currentOwner(), startTime: 'unknown' })).toBe(false);
  });

  test('a process that we may not signal is alive', () => {
    expect(isDeadOwner({ ...currentOwner(), pid: 1, startTime: 'unknown' })).toBe(false);
  });
});

test('a grade container says what it is, whose, and whether to keep it', () => {
  expect(gradeLabels({})).toMatchObject({
    [workbenchLabel]: 'grade',
    [ownerLabel]: formatOwner(currentOwner()),
    'devcontainer.metadata': '[]',
  });
  expect(gradeLabels({})).not.toHaveProperty(keepLabel);
  expect(gradeLabels({ keepFor: '/store/grades/1' })).toHaveProperty(keepLabel, '/store/grades/1');
});
