import * as vscode from 'vscode';
import type { AttachedMode } from '#core/attempt/types.ts';
import { CancelledError } from '#core/base/errors.ts';
import type { CommandHandler } from '#vscode/commands/commandIds.ts';
import type { ErrorReporter } from '#vscode/commands/reportError.ts';
import type { Notifier } from '#vscode/notify.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { hasDevContainers, leakySettings, showDevContainers, turnOff } from './devContainers.ts';
import { cannot } from './gradeAttempt.ts';
import { requireWindowAttempt } from './pickAttempt.ts';
import type { AttemptRoom } from './ports.ts';

export interface AttachWindowDeps {
  readonly room: Pick<AttemptRoom, 'read' | 'attachedMode'>;
  readonly sessions: WorkspaceSessions;
  readonly notifier: Notifier;
  readonly reportError: ErrorReporter;
  readonly hostEnv: NodeJS.ProcessEnv;
}

/** Opens a window of Dev Containers in this workspace's container, after the person read what that lets through. */
export function attachWindow(deps: AttachWindowDeps): CommandHandler {
  return async () => {
    const session = await deps.sessions.get(requireWindowAttempt());
    if (session.readOnly !== undefined) throw cannot('attached to', session.readOnly);
    if (!hasDevContainers()) {
      deps.notifier.warn(
        'To attach a window, install the extension Dev Containers (ms-vscode-remote.remote-containers) in VS Code for the desktop.',
        { title: 'Find extension', run: showDevContainers },
        {
          title: 'Copy attach link (unverified)',
          run: () =>
            copyLink(deps, session).catch((error: unknown) => deps.reportError('Attach window', error)),
        },
      );
      return;
    }
    await confirm(session, deps.hostEnv);
    const ready = await prepare(deps, session);
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.parse(ready.uri), {
      forceNewWindow: true,
    });
    const text =
      'Once the attached window is ready, check what it opened. Keep this window: closing it freezes the container.';
    deps.notifier.info([...ready.warnings, text].join(' '), ...actionsFor(ready));
  };
}

async function confirm(session: WorkspaceSession, hostEnv: NodeJS.ProcessEnv): Promise<void> {
  const leaky = leakySettings();
  const choices = leaky.length > 0 ? ['Turn off and attach', 'Attach as it is'] : ['Attach'];
  const answer = await vscode.window.showWarningMessage(
    `Attach a window to the workspace of ${session.record.task.name}?`,
    { modal: true, detail: attachDetail(leaky, hostEnv.SSH_AUTH_SOCK !== undefined) },
    ...choices,
  );
  if (answer === undefined) throw new CancelledError();
  if (answer === 'Turn off and attach') await turnOff(leaky);
}

/** What the attached mode gives, costs and lets through. */
export function attachDetail(leaky: readonly string[], hasSshAgent: boolean): string {
  return [
    'Dev Containers puts a VS Code server into the container: its search, language servers and debuggers reach the files. The commands of its terminals are not recorded, and the attempt counts as attached from now on.',
    leaky.length > 0
      ? `Of your settings, these let credentials or ports through: ${leaky.join(', ')}. They can be turned off, for every window of yours.`
      : 'Your settings let no credentials and no ports through.',
    `No setting turns off these ways out of the container: the SSH agent${hasSshAgent ? ' (this window has one)' : ''} and the GPG agent of this machine, and commands to the editor by “code”. “Check workspace for bridges” removes what it can and lists what remains.`,
  ].join('\n\n');
}

async function prepare(
  { room }: Pick<AttachWindowDeps, 'room'>,
  session: WorkspaceSession,
): Promise<AttachedMode> {
  const ready = await room.attachedMode(session.id, new AbortController().signal);
  session.record = await room.read(session.id);
  return ready;
}

async function copyLink(deps: AttachWindowDeps, session: WorkspaceSession): Promise<void> {
  const ready = await prepare(deps, session);
  await vscode.env.clipboard.writeText(ready.uri);
  const text =
    'The link was copied; open it by “code --folder-uri” on this machine. The attempt counts as attached from now on.';
  deps.notifier.info([...ready.warnings, text].join(' '), ...actionsFor(ready));
}

function actionsFor({ attachedConfig }: AttachedMode) {
  return [
    {
      title: 'Check for bridges',
      run: () => vscode.commands.executeCommand('e2eSwe.checkBridges'),
    },
    {
      title: 'Show container settings',
      run: () => vscode.window.showTextDocument(vscode.Uri.file(attachedConfig)),
    },
  ];
}
