import * as vscode from 'vscode';
import type { AttemptClock } from '#core/attempt/attemptClock.ts';
import type { RecordLine } from '#core/attempt/recordEvents.ts';
import { addToSummary, emptySummary, type RecordSummary } from '#core/attempt/recordSummary.ts';
import { type Disposable, DisposableStore } from '#core/base/disposable.ts';
import { errorMessage } from '#core/base/errors.ts';
import type { Log } from '#core/base/log.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import { type AttemptPhase, setContextKey } from '#vscode/contextKeys.ts';
import { durationText } from '#vscode/record/clockStatus.ts';
import { windowAttemptId } from '#vscode/workspace/attemptUri.ts';
import type { WorkspaceSession } from '#vscode/workspace/workspaceSession.ts';
import type { WorkspaceSessions } from '#vscode/workspace/workspaceSessions.ts';
import { mayDebrief, mayGrade, phaseOf } from './phase.ts';
import { baselineRows, type Row } from './rows.ts';

export interface BaselineViewDeps {
  readonly room: Pick<AttemptRoom, 'clock' | 'summary'>;
  readonly sessions: WorkspaceSessions;
  readonly log: Log;
}

const updateMs = 1_000;

/** What is known of the session that is shown. */
interface Watched {
  readonly session: WorkspaceSession;
  readonly early: RecordLine[];
  summary: RecordSummary | undefined;
  /** Of one that this window does not record. */
  clock: AttemptClock | undefined;
}

/**
 * The attempt of this window in the side bar. Rows are known by their ids: each second only those whose words changed
 * are told to VS Code, and none while nobody sees them.
 */
export class BaselineView implements vscode.TreeDataProvider<string>, Disposable {
  readonly #deps: BaselineViewDeps;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new vscode.EventEmitter<string[] | undefined>());
  readonly #view: vscode.TreeView<string>;
  #rows = new Map<string, Row>();
  #top: readonly string[] = [];
  #watched: Watched | undefined;
  #hasFailed = false;
  #phase: AttemptPhase | undefined;
  #told = '';

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(deps: BaselineViewDeps) {
    this.#deps = deps;
    const { sessions } = deps;
    this.#view = this.#store.add(vscode.window.createTreeView('e2eSwe.attempt', { treeDataProvider: this }));
    this.#store.add(sessions.onDidOpen((session) => this.#watch(session)));
    this.#store.add(sessions.onDidChange(() => this.update()));
    this.#store.add(
      sessions.onDidFail(({ attemptId }) => {
        if (attemptId !== windowAttemptId()) return;
        this.#hasFailed = true;
        this.#watched = undefined;
        this.update();
      }),
    );
    this.#store.add(this.#view.onDidChangeVisibility(() => this.update()));
    if (windowAttemptId() === undefined) return;
    this.update();
    const timer = setInterval(() => this.#tick(), updateMs);
    this.#store.add({ dispose: () => clearInterval(timer) });
  }

  getChildren(id?: string): string[] {
    return id === undefined ? [...this.#top] : (this.#rows.get(id)?.children ?? []).map((row) => row.id);
  }

  getParent(id: string): string | undefined {
    const slash = id.lastIndexOf('/');
    return slash < 0 ? undefined : id.slice(0, slash);
  }

  getTreeItem(id: string): vscode.TreeItem {
    const row = this.#rows.get(id) ?? { id, label: '' };
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(row.label, row.children ? (row.isOpen ? Expanded : Collapsed) : None);
    item.id = id;
    item.description = row.description ?? '';
    if (row.icon !== undefined)
      item.iconPath = new vscode.ThemeIcon(
        row.icon,
        row.color ? new vscode.ThemeColor(row.color) : undefined,
      );
    if (row.tooltip !== undefined) item.tooltip = row.tooltip;
    if (row.context !== undefined) item.contextValue = row.context;
    if (row.command !== undefined) item.command = { command: row.command, title: row.label };
    item.accessibilityInformation = { label: [row.label, row.description].filter(Boolean).join(', ') };
    return item;
  }

  /** Shows it, with the keyboard in it. */
  async focus(): Promise<void> {
    await vscode.commands.executeCommand('e2eSwe.attempt.focus');
  }

  /** By what is known now. */
  update(): void {
    const watched = this.#watched;
    const phase = watched ? phaseOf(watched.session) : this.#hasFailed ? 'failed' : 'opening';
    this.#tellPhase(phase, watched?.session);
    const rows = watched && phase !== 'waiting' ? baselineRows(this.#stateOf(watched, phase)) : [];
    const { budgetSec } = watched?.session.record ?? { budgetSec: null };
    const clock = watched && this.#clockOf(watched);
    this.#view.description =
      clock && phase !== 'waiting'
        ? [
            durationText(clock.unpausedMs),
            ...(budgetSec === null ? [] : [durationText(budgetSec * 1000)]),
          ].join(' / ')
        : '';
    this.#show(rows);
  }

  #tick(): void {
    const isMoving = this.#phase === 'running' || this.#phase === 'paused' || this.#phase === 'frozen';
    if (this.#view.visible && isMoving) this.update();
  }

  #stateOf(watched: Watched, phase: AttemptPhase) {
    const { record, frozen, open } = watched.session;
    const summary = watched.summary ?? emptySummary;
    return { record, phase, frozen, clock: this.#clockOf(watched), failure: open.recorder?.failure, summary };
  }

  #clockOf({ session, clock }: Watched) {
    return session.open.recorder?.clock ?? clock;
  }

  #tellPhase(phase: AttemptPhase, session: WorkspaceSession | undefined): void {
    const keys = {
      'e2eSwe.attemptPhase': phase,
      'e2eSwe.mayGrade': session !== undefined && mayGrade(session),
      'e2eSwe.mayDebrief': session !== undefined && mayDebrief(session),
    };
    this.#phase = phase;
    const told = JSON.stringify(keys);
    if (told === this.#told) return;
    this.#told = told;
    void setContextKey('e2eSwe.attemptPhase', keys['e2eSwe.attemptPhase']);
    void setContextKey('e2eSwe.mayGrade', keys['e2eSwe.mayGrade']);
    void setContextKey('e2eSwe.mayDebrief', keys['e2eSwe.mayDebrief']);
  }

  #watch(session: WorkspaceSession): void {
    if (session.id !== windowAttemptId()) return;
    this.#hasFailed = false;
    const watched: Watched = { session, early: [], summary: undefined, clock: undefined };
    this.#watched = watched;
    session.open.recorder?.onDidAppend((line) => {
      if (watched.summary) watched.summary = addToSummary(watched.summary, line);
      else watched.early.push(line);
      // What it changes is shown with the next second, or by the session's own event.
      if (
        ['note', 'graded', 'ai-features', 'revealed-outside'].includes(line.kind) &&
        this.#watched === watched
      )
        this.update();
    });
    this.update();
    void this.#read(watched);
  }

  /** What happened before; lines that came meanwhile are in the file, or follow it. */
  async #read(watched: Watched): Promise<void> {
    const { room, log } = this.#deps;
    const { session } = watched;
    try {
      if (!session.open.recorder) watched.clock = await room.clock(session.id);
      const { summary, lastLine } = await room.summary(session.id);
      watched.summary = watched.early.filter(({ n }) => n > lastLine).reduce(addToSummary, summary);
    } catch (error) {
      log.warn(`The record of ${session.id} could not be read: ${errorMessage(error)}`);
      watched.summary = watched.early.reduce(addToSummary, emptySummary);
    }
    if (this.#watched === watched) this.update();
  }

  #show(rows: readonly Row[]): void {
    const before = this.#rows;
    const top = rows.map(({ id }) => id);
    const isOther = top.join() !== this.#top.join();
    this.#rows = flat(rows);
    this.#top = top;
    if (isOther) this.#changed.fire(undefined);
    else {
      const changed = [...this.#rows.values()].filter((row) => own(row) !== own(before.get(row.id)));
      // A row is drawn anew with all that is below it.
      const ids = new Set(changed.map(({ id }) => id));
      const topmost = [...ids].filter((id) => !isBelow(id, ids));
      if (topmost.length > 0) this.#changed.fire(topmost);
    }
  }

  dispose(): void {
    this.#store.dispose();
  }
}

function flat(rows: readonly Row[], into = new Map<string, Row>()): Map<string, Row> {
  for (const row of rows) {
    into.set(row.id, row);
    flat(row.children ?? [], into);
  }
  return into;
}

/** What a row itself shows, and which rows are below it. */
function own(row: Row | undefined): string {
  return JSON.stringify(row && { ...row, children: row.children?.map(({ id }) => id) });
}

function isBelow(id: string, ids: ReadonlySet<string>): boolean {
  for (let slash = id.lastIndexOf('/'); slash > 0; slash = id.lastIndexOf('/', slash - 1))
    if (ids.has(id.slice(0, slash))) return true;
  return false;
}
