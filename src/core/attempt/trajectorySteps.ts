import type { TrajectoryStep } from '#core/trial/atif.ts';
import { changedLines } from './changedLines.ts';
import type { ClockState } from './clock.ts';
import { plainReason } from './plainReason.ts';
import type { RecordLine } from './recordEvents.ts';
import { TextReplay } from './replayText.ts';
import { isOver } from './states.ts';
import type { AttemptState } from './types.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Step = Writable<TrajectoryStep>;
type Actor = 'human' | 'agent' | 'external';

/** Unsaved changes of one file by one actor. */
interface Pending {
  readonly actor: Actor;
  /** The text that they began with; undefined: nothing is known of it. */
  readonly before: string | undefined;
  edits: number;
}

/** Looks of the machine's own, of milliseconds: no pause that anybody took. */
const unseenPauses = ['comparison', 'snapshot'];
/** Paths that one step names of what programs changed. */
const maxPaths = 50;

/** Turns the lines of a record, in their order, into the steps of a trajectory. */
export class TrajectorySteps {
  readonly #outputs: ReadonlyMap<string, string>;
  readonly #freeText: boolean;
  readonly #steps: Step[] = [];
  readonly #replay = new TextReplay();
  readonly #pending = new Map<string, Pending>();
  readonly #commands = new Map<string, Step>();
  readonly #withCommands = new Set<string>();
  #grade: Step | undefined;
  /** What was said of a pause before the workspace was frozen for it. */
  #pauseReason: string | undefined;
  #external: { readonly step: Step; readonly paths: Set<string> } | undefined;
  #now: { utc: string; clock: ClockState } | undefined;

  constructor(options: { readonly outputs: ReadonlyMap<string, string>; readonly freeText: boolean }) {
    this.#outputs = options.outputs;
    this.#freeText = options.freeText;
  }

  spec(text: string, at: string): void {
    this.#steps.push({ step_id: 1, timestamp: at, source: 'user', message: text });
  }

  apply(line: RecordLine, before: ClockState, clock: ClockState): void {
    this.#now = { utc: line.utc, clock };
    this.#pauses(before, clock);
    switch (line.kind) {
      case 'text':
        if (line.actor === 'external') this.#flush(line.path, false);
        else this.#changing(line.path, line.actor);
        break;
      case 'edit':
        if (line.actor !== 'external') this.#changing(line.path, line.actor);
        else {
          this.#flush(line.path, false);
          this.#byProgram(line.path);
        }
        break;
      case 'file':
        this.#file(line);
        break;
      case 'command': {
        const { id, command, cwd, actor } = line;
        this.#withCommands.add(line.in);
        const step = this.#call(actor, 'run_command', { command, ...(cwd === undefined ? {} : { cwd }) });
        this.#commands.set(id, step);
        answer(step, this.#outputs.get(id) ?? '');
        break;
      }
      case 'command-ended': {
        const step = this.#commands.get(line.id);
        if (step) step.extra = { ...step.extra, exit_code: line.exitCode, ended_at: line.utc };
        break;
      }
      case 'terminal-closed': {
        const shown = this.#outputs.get(line.id);
        if (!this.#withCommands.has(line.id) && shown)
          answer(this.#call('human', 'terminal', { exit_code: line.exitCode }), shown);
        break;
      }
      case 'note':
        if (this.#freeText) this.#push('agent', line.text, { event: 'note' });
        break;
      case 'milestone':
        if (line.what === 'spec-opened') this.#push('system', 'The spec was opened.', { event: line.what });
        break;
      case 'revealed-outside':
        this.#push('system', `Hidden tests were shown elsewhere: ${line.what}, ${line.tier}.`, {
          event: line.kind,
          since: line.at,
        });
        break;
      case 'grade':
        this.#grade = this.#call('human', 'grade', { official: line.official });
        break;
      case 'graded':
      case 'grade-failed':
        this.#graded(line);
        break;
      case 'state':
        if (line.state === 'paused') this.#pauseReason = line.reason;
        if (isOver(line.state as AttemptState) || line.state === 'lost')
          this.#push('system', `The attempt is ${line.state}${this.#because(line.reason)}.`, {
            event: line.state,
          });
        break;
      default:
    }
    const known = this.#replay.get(line.kind === 'saved' ? line.path : '');
    this.#replay.apply(line);
    if (line.kind === 'saved') this.#saved(line, known !== undefined);
  }

  /** What was never saved comes last. */
  finish(): Step[] {
    for (const path of [...this.#pending.keys()]) this.#flush(path, false);
    return this.#steps;
  }

  #pauses(before: ClockState, clock: ClockState): void {
    for (const { reason, since } of clock.pauses.slice(before.pauses.length))
      if (!unseenPauses.includes(reason))
        this.#push('system', `Paused: ${this.#reason((reason === 'pause' && this.#pauseReason) || reason)}`, {
          event: 'pause',
          since,
        });
    const last = clock.pauses.at(-1);
    if (before.phase !== 'paused' || clock.phase !== 'running' || !last) return;
    if (!unseenPauses.includes(last.reason))
      this.#push('system', 'Resumed', { event: 'resume', paused_ms: Math.round(last.ms) });
  }

  #changing(path: string, actor: Actor): void {
    const pending = this.#pending.get(path);
    if (pending?.actor === actor) pending.edits++;
    else {
      this.#flush(path, false);
      this.#pending.set(path, { actor, before: this.#replay.get(path)?.text, edits: 1 });
    }
  }

  #saved({ path, bytes, sha256, actor }: RecordLine & { kind: 'saved' }, isText: boolean): void {
    if (this.#pending.has(path)) this.#flush(path, true);
    else if (!isText) this.#call(actor, 'write_file', { path, bytes, sha256 });
  }

  #flush(path: string, isSaved: boolean): void {
    const pending = this.#pending.get(path);
    if (!pending) return;
    this.#pending.delete(path);
    const after = this.#replay.get(path)?.text ?? '';
    const { cut, ...change } = changedLines(pending.before ?? '', after);
    const step = this.#call(pending.actor, 'edit_file', { path, ...change });
    step.extra = { ...step.extra, edits: pending.edits, saved: isSaved, ...(cut ? { cut } : {}) };
  }

  #file({ what, path, to, actor }: RecordLine & { kind: 'file' }): void {
    if (actor === 'external' || what === 'changed' || what === 'many') {
      this.#byProgram(path);
      return;
    }
    for (const inside of [...this.#pending.keys()])
      if (inside === path || inside.startsWith(`${path}/`)) this.#flush(inside, false);
    const names = {
      created: 'create_file',
      deleted: 'delete_file',
      renamed: 'move_file',
      copied: 'copy_file',
    };
    this.#call(actor, names[what], { path, ...(to === undefined ? {} : { to }) });
  }

  /** One step for what comes without another one between. */
  #byProgram(path: string): void {
    if (this.#external?.step !== this.#steps.at(-1))
      this.#external = {
        step: this.#push('system', '', { event: 'files-changed' }),
        paths: new Set(),
      };
    const { step, paths } = this.#external as { step: Step; paths: Set<string> };
    paths.add(path);
    const some = [...paths].slice(0, maxPaths);
    const more = paths.size > maxPaths ? ` and ${paths.size - maxPaths} more` : '';
    step.message = `Changed outside of the editor: ${some.join(', ')}${more}`;
  }

  #graded(line: RecordLine & { kind: 'graded' | 'grade-failed' }): void {
    const step = this.#grade ?? this.#call('human', 'grade', { official: line.official });
    this.#grade = undefined;
    const told =
      line.kind === 'graded'
        ? { verdict: line.verdict, revealed: line.revealed }
        : { failed: this.#freeText ? line.reason : 'not made' };
    answer(step, JSON.stringify(told));
    step.extra = { ...step.extra, ended_at: line.utc };
  }

  #call(actor: Actor, name: string, given: Record<string, unknown>): Step {
    const step = this.#push('agent', '', { actor });
    step.tool_calls = [{ tool_call_id: `call-${step.step_id}`, function_name: name, arguments: given }];
    if (actor === 'human') step.llm_call_count = 0;
    return step;
  }

  #push(source: 'agent' | 'system', message: string, extra: Record<string, unknown>): Step {
    const { utc = '', clock } = this.#now ?? {};
    const step: Step = {
      step_id: this.#steps.length + 1,
      timestamp: utc,
      source,
      message,
      extra: {
        ...extra,
        ...(clock && { unpaused_ms: Math.round(clock.unpausedMs), active_ms: Math.round(clock.activeMs) }),
      },
    };
    this.#steps.push(step);
    return step;
  }

  #because(reason: string | undefined): string {
    return reason === undefined ? '' : `: ${this.#reason(reason)}`;
  }

  #reason(reason: string): string {
    return this.#freeText ? reason : plainReason(reason);
  }
}

function answer(step: Step, content: string): void {
  const id = step.tool_calls?.[0]?.tool_call_id;
  step.observation = { results: [{ source_call_id: id, content }] };
}
