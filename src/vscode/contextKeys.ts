import * as vscode from 'vscode';

export type AttemptPhase =
  | 'opening'
  | 'failed'
  | 'waiting'
  | 'running'
  | 'paused'
  | 'frozen'
  | 'over'
  | 'elsewhere';

/** The context keys that `when` clauses of the manifest may name, with their values. */
export interface ContextKeys {
  'e2eSwe.tasksState': 'loading' | 'empty' | 'ready';
  'e2eSwe.engineState': 'unknown' | 'ready' | 'missing';
  /** At least one grade is queued or running. */
  'e2eSwe.grading': boolean;
  /** An attempt's workspace is open in this window. */
  'e2eSwe.inWorkspace': boolean;
  /** That workspace is frozen for an interim grade. */
  'e2eSwe.frozenForGrade': boolean;
  /** How its attempt stands: `waiting` for the start of its clock, `frozen` for a while, … */
  'e2eSwe.attemptPhase': AttemptPhase;
  /** An interim grade of it is allowed now. */
  'e2eSwe.mayGrade': boolean;
  /** It is over, was measured, and its builder may say how it was. */
  'e2eSwe.mayDebrief': boolean;
  /** The last grade of that workspace has failures at lines of its files. */
  'e2eSwe.hasProblems': boolean;
}

const everyKey = {
  'e2eSwe.tasksState': true,
  'e2eSwe.engineState': true,
  'e2eSwe.grading': true,
  'e2eSwe.inWorkspace': true,
  'e2eSwe.frozenForGrade': true,
  'e2eSwe.attemptPhase': true,
  'e2eSwe.mayGrade': true,
  'e2eSwe.mayDebrief': true,
  'e2eSwe.hasProblems': true,
} as const satisfies Record<keyof ContextKeys, true>;

/** For the test that compares them with the manifest. */
export const contextKeyNames = Object.keys(everyKey);

/** The only `setContext` of the extension. */
export function setContextKey<K extends keyof ContextKeys>(key: K, value: ContextKeys[K]): Thenable<unknown> {
  return vscode.commands.executeCommand('setContext', key, value);
}
