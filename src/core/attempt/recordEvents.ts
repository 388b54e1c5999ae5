import { z } from 'zod';
import { debriefSchema, protocolSchema, tierSchema } from './protocol.ts';

/** Version of a line of record.jsonl; each line says its own, since several versions may have written one file. */
export const recordVersion = 1;

/**
 * When something happened. `utc`: ISO 8601, as the host's clock said. `mono`: milliseconds of the host's monotonic
 * clock (`process.hrtime`: CLOCK_MONOTONIC on Linux, where it stands still while the machine sleeps), comparable
 * between processes of one `boot`.
 */
const moment = z.object({ utc: z.string(), mono: z.number(), boot: z.string() });

const actor = z.enum(['human', 'agent', 'external']);

/** Of a document: VS Code's name of the encoding, and what ends its lines. */
const textFormat = { encoding: z.string(), eol: z.enum(['\n', '\r\n']) };

/** Absolute paths are the container's. */
export const recordEvent = z.discriminatedUnion('kind', [
  /** A process has the attempt from here on: the first line of each, and its moments are of `boot`. */
  z.object({
    kind: z.literal('opened'),
    boot: z.string(),
    /** `included`: the monotonic clock goes on while the machine sleeps (macOS, Windows). */
    sleep: z.enum(['excluded', 'included']),
    pid: z.number(),
    /** Bytes of a torn last line that a crash left and that were cut off. */
    tornBytes: z.number().exactOptional(),
  }),
  /** That process lets go of it; missing after a crash. */
  z.object({ kind: z.literal('closed') }),
  /** What of the container's life this process found: of one that was running, the gap before was no pause. */
  z.object({
    kind: z.literal('container'),
    how: z.enum(['was running', 'was paused', 'started', 'recreated']),
  }),
  z.object({
    kind: z.literal('editor'),
    name: z.string(),
    version: z.string(),
    extensions: z.array(z.string()),
  }),
  z.object({ kind: z.literal('state'), state: z.string(), reason: z.string().exactOptional() }),
  /** Written before the container is thawed, and after it was frozen: the clock never stands while work can go on. */
  z.object({ kind: z.literal('thawed') }),
  z.object({ kind: z.literal('frozen'), reason: z.string() }),
  /** The guard froze the container at a moment of its own, since nobody gave a sign of life any more. */
  z.object({ kind: z.literal('guard-froze'), at: moment, reason: z.enum(['crash', 'no-answer']) }),
  /** Nothing else happened for a while; a crash of the whole machine loses no more time than one of these. */
  z.object({ kind: z.literal('tick') }),
  z.object({ kind: z.literal('budget'), budgetSec: z.number(), leftSec: z.number() }),
  z.object({
    kind: z.literal('disk'),
    what: z.enum(['full', 'low', 'enough']),
    freeBytes: z.number().exactOptional(),
  }),
  z.object({ kind: z.literal('focus'), focused: z.boolean() }),
  z.object({ kind: z.literal('note'), text: z.string() }),
  /** `environment-ready`: of a measured attempt; `started`: the first thaw; `spec-opened`: each time that we show it. */
  z.object({
    kind: z.literal('milestone'),
    what: z.enum(['environment-ready', 'started', 'spec-opened']),
  }),
  /**
   * What became of the editor's own AI where none may help: settings that hold in the window, those that do not, and
   * installed extensions that are known to be AI.
   */
  z.object({
    kind: z.literal('ai-features'),
    off: z.array(z.string()),
    on: z.array(z.string()),
    extensions: z.array(z.string()),
  }),
  /** Typing into a terminal, a few seconds of it at a time. */
  z.object({ kind: z.literal('activity'), in: z.string() }),
  /** The whole text of a document, where what was recorded before does not lead to it. */
  z.object({
    kind: z.literal('text'),
    path: z.string(),
    actor,
    version: z.number(),
    ...textFormat,
    text: z.string(),
  }),
  /**
   * Changes of a document. Offsets and lengths are UTF-16 code units of the text before this event, all of them, and do
   * not overlap. `eol`: what ends its lines from here on.
   */
  z.object({
    kind: z.literal('edit'),
    path: z.string(),
    actor,
    version: z.number(),
    changes: z.array(z.tuple([z.number(), z.number(), z.string()])),
    eol: textFormat.eol.exactOptional(),
  }),
  /**
   * The bytes that a save wrote. Those of a recorded document are its text in its encoding; `content` (base64) has them
   * where they are not, as in an encoding that we cannot write.
   */
  z.object({
    kind: z.literal('saved'),
    path: z.string(),
    actor,
    bytes: z.number(),
    sha256: z.string(),
    /** Where the document was saved in another one than before. */
    encoding: z.string().exactOptional(),
    content: z.string().exactOptional(),
  }),
  z.object({
    kind: z.literal('file'),
    /** `many`: more were changed in that second than are told. */
    what: z.enum(['created', 'deleted', 'renamed', 'copied', 'changed', 'many']),
    path: z.string(),
    to: z.string().exactOptional(),
    actor,
  }),
  /** `cast`: a file in the attempt's folder, asciicast v2. */
  z.object({
    kind: z.literal('terminal'),
    id: z.string(),
    cast: z.string(),
    cols: z.number(),
    rows: z.number(),
  }),
  /** So much of a terminal's cast is on the disk, from its beginning, with this SHA-256: damage to it shows. */
  z.object({ kind: z.literal('cast'), id: z.string(), bytes: z.number(), sha256: z.string() }),
  z.object({
    kind: z.literal('terminal-closed'),
    id: z.string(),
    exitCode: z.number().nullable(),
    /** Characters of output that the cast lacks: a flood. */
    omitted: z.number(),
  }),
  /** Something that is waited for: a command, setup.sh. The number tells it from others of this session. */
  z.object({
    kind: z.literal('command'),
    id: z.string(),
    in: z.string(),
    actor,
    command: z.string(),
    cwd: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('command-ended'), id: z.string(), exitCode: z.number().nullable() }),
  z.object({ kind: z.literal('grade'), official: z.boolean() }),
  /** `revealed`: what the builder has seen of the hidden tests by it. */
  z.object({
    kind: z.literal('graded'),
    official: z.boolean(),
    dir: z.string(),
    verdict: z.string(),
    submission: z.string().exactOptional(),
    snapshot: z.string().exactOptional(),
    revealed: z.object({ tier: z.string(), passed: z.number().nullable(), total: z.number().nullable() }),
  }),
  z.object({ kind: z.literal('grade-failed'), official: z.boolean(), reason: z.string() }),
  /** Other than by its own grades, the hidden tests of its task were shown through us. */
  z.object({
    kind: z.literal('revealed-outside'),
    /** ISO 8601 UTC; the line is later where another process had the record. */
    at: z.string(),
    what: z.enum([
      ...['grade', 'attempt-grade', 'stored-grade', 'verifier-log', 'grade-folder'],
      ...['harbor-check', 'task-file', 'score-curve'],
    ] as const),
    /** A source, an attempt, a grade's folder, a file. */
    of: z.string(),
    tier: tierSchema,
  }),
  /** Under which conditions it is measured; the first line after `opened`. */
  z.object({ kind: z.literal('protocol'), protocol: protocolSchema }),
  /** What its builder said once it was over; of several, the last counts. */
  z.object({ kind: z.literal('debrief'), debrief: debriefSchema }),
]);

export type RecordEvent = z.infer<typeof recordEvent>;

/** A line of record.jsonl: the event, its place, its moment, and the hash of the line before. */
export type RecordLine = RecordEvent & {
  readonly n: number;
  readonly utc: string;
  readonly mono: number;
};

export type Moment = z.infer<typeof moment>;
