import type { FreezeReason } from '#core/attempt/freezes.ts';
import { awaitsStart } from '#core/attempt/states.ts';
import type { AttemptRecord, AttemptState } from '#core/attempt/types.ts';
import type { IsolationProbe } from '#core/container/workspaceProbe.ts';

const states: Readonly<Record<AttemptState, string>> = {
  preparing: 'preparing',
  ready: 'ready',
  running: 'running',
  paused: 'paused',
  grading: 'grading',
  submitted: 'submitted',
  'gave-up': 'given up',
  'timed-out': 'out of time',
  disqualified: 'disqualified',
  lost: 'lost',
};

export function stateLabel(state: AttemptState): string {
  return states[state];
}

/** Why the workspace stands still, where that is worth a word: a comparison is over before anybody notices. */
const freezes: Readonly<Record<FreezeReason, string | undefined>> = {
  grade: 'The workspace is frozen while it is graded. “Keep working” thaws it once its submission is taken.',
  submit: 'The workspace is frozen while its final submission is taken and graded.',
  setup: 'The workspace is frozen while its files are taken.',
  snapshot: 'The workspace is frozen while its files are taken.',
  comparison: undefined,
  pause: 'The attempt is paused. “Resume” starts its clock again.',
};

export const waitingSentence =
  'The clock of this measured attempt has not been started. “Start the clock” shows the spec and thaws the workspace.';

export function freezeSentence(reason: FreezeReason | undefined): string | undefined {
  return reason === undefined ? undefined : freezes[reason];
}

/** The state in the tree: an attempt that no window works in waits for its builder. */
export const stateIcons: Readonly<Record<AttemptState, string>> = {
  preparing: 'loading~spin',
  ready: 'debug-pause',
  running: 'edit',
  paused: 'debug-pause',
  grading: 'loading~spin',
  submitted: 'verified-filled',
  'gave-up': 'circle-slash',
  'timed-out': 'watch',
  disqualified: 'error',
  lost: 'warning',
};

/** In words of one or two. */
export function standing(record: AttemptRecord): string {
  return awaitsStart(record) ? 'not started' : stateLabel(record.state);
}

/** "running · resolved", with the last verdict where there is one. */
export function attemptSummary(record: AttemptRecord): string {
  const last = record.grades.at(-1);
  return last ? `${standing(record)} · ${last.verdict}` : standing(record);
}

/** "Offline: a connection attempt from inside failed (Network is unreachable)." */
export function isolationSentence(probe: IsolationProbe): string {
  if (probe.isIsolated) {
    const how = probe.connection.replace(/^failed\s*/, '');
    return `The container is offline: a connection attempt from inside failed${how ? ` (${how})` : ''}.`;
  }
  return `The container is not apart from everything: ${isolationFaults(probe).join(', ')}.`;
}

/** What is not as it should be, each in a few words. */
function isolationFaults(probe: IsolationProbe): string[] {
  const faults: readonly (readonly [boolean, string])[] = [
    [probe.hasNoNetwork, 'it has a network'],
    [probe.isConnectionRefused, `a connection attempt from inside: ${probe.connection}`],
    [probe.hasLoopbackOnly, `interfaces ${probe.interfaces.join(', ')}`],
    [probe.hasNoHostMounts, 'folders of the host are mounted'],
    [probe.hasNoPrivileges, 'it is privileged'],
    [probe.hasNoEngineSocket, 'the engine can be reached from inside'],
    [probe.bridges.length === 0, `ways out: ${probe.bridges.join(', ')}`],
  ];
  return faults.filter(([isFine]) => !isFine).map(([, text]) => text);
}
