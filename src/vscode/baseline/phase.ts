import { isOver } from '#core/attempt/states.ts';
import type { AttemptPhase } from '#vscode/contextKeys.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';

type Shown = Pick<WorkspaceSession, 'record' | 'readOnly' | 'frozen' | 'isWaiting'>;

/** How the window's attempt stands, for menus and for the view. */
export function phaseOf(session: Shown): AttemptPhase {
  if (isOver(session.record.state)) return 'over';
  if (session.readOnly !== undefined) return 'elsewhere';
  if (session.isWaiting) return 'waiting';
  if (session.record.state === 'paused') return 'paused';
  return session.frozen === undefined ? 'running' : 'frozen';
}

export function mayGrade(session: Shown): boolean {
  return phaseOf(session) === 'running' && (session.record.protocol?.interimGrading ?? true);
}

export function mayDebrief({ record }: Pick<Shown, 'record'>): boolean {
  return isOver(record.state) && record.protocol !== undefined;
}
