import type * as vscode from 'vscode';
import type { Recorder } from '#core/attempt/recorder.ts';
import { bytesToText, parseAttemptUri } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';

/** A file of an attempt that is recorded here. */
export interface RecordedPlace {
  readonly recorder: Recorder;
  readonly session: WorkspaceSession;
  /** In the container, as text. */
  readonly path: string;
}

/** Undefined for a file of no attempt, of one that is not open, or that another window records. */
export function recordedPlace(
  sessions: Pick<WorkspaceSessions, 'current'>,
  uri: vscode.Uri,
): RecordedPlace | undefined {
  const parsed = parseAttemptUri(uri);
  const session = sessions.current(parsed?.attemptId);
  const recorder = session?.open.recorder;
  if (!parsed || !session || !recorder) return undefined;
  const below = parsed.path === '' ? '' : `/${bytesToText(parsed.path)}`;
  return { recorder, session, path: `${session.record.workdir.replace(/\/+$/, '')}${below}` };
}
