import type * as vscode from 'vscode';
import { attemptUri } from './attemptUri.ts';
import type { WorkspaceSession } from './workspaceSession.ts';

type Placed = Pick<WorkspaceSession, 'id' | 'record'>;

/** The path in the container, as bytes, of one below the workdir; without one, the workdir's. */
export function containerPath({ record }: Placed, path = ''): string {
  const workdir = Buffer.from(record.workdir, 'utf8').toString('latin1').replace(/\/+$/, '');
  return path === '' ? workdir : `${workdir}/${path}`;
}

/** The address of a container path below the workdir; undefined elsewhere. */
export function uriOfContainerPath(session: Placed, path: string): vscode.Uri | undefined {
  const workdir = containerPath(session);
  if (path === workdir) return attemptUri(session.id);
  return path.startsWith(`${workdir}/`) ? attemptUri(session.id, path.slice(workdir.length + 1)) : undefined;
}
