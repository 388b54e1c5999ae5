import path from 'node:path';
import { z } from 'zod';
import { UserError } from '#core/base/errors.ts';
import { workspaceName } from '#core/container/workspaceContainer.ts';
import { debriefSchema, protocolSchema } from './protocol.ts';
import type { AttemptRecord } from './types.ts';

const oldStates = ['preparing', 'ready', 'running', 'grading', 'submitted', 'gave-up', 'lost'] as const;
const states = [...oldStates, 'paused', 'timed-out', 'disqualified'] as const;

/** Version 1 of attempt.json. Keys that are not here are dropped when it is written again. */
const version1 = z.object({
  schemaVersion: z.literal(1),
  id: z.string(),
  task: z.object({ name: z.string(), path: z.string(), digest: z.string() }),
  state: z.enum(oldStates),
  /** Absent in records from before there was another mode. */
  mode: z.enum(['channel', 'attached']).default('channel'),
  createdAt: z.string(),
  workdir: z.string(),
  user: z.string().exactOptional(),
  image: z.object({ reference: z.string(), id: z.string() }),
  volume: z.string(),
  roots: z.array(z.string()),
  limits: z.object({ cpus: z.number().nullable(), memoryMb: z.number().nullable() }),
  env: z.record(z.string(), z.string()),
  allowedHostEnv: z.array(z.string()),
  history: z.array(
    z.object({ state: z.enum(oldStates), at: z.string(), reason: z.string().exactOptional() }),
  ),
  grades: z.array(
    z.object({
      dir: z.string(),
      verdict: z.enum(['resolved', 'unresolved', 'not graded']),
      at: z.string(),
      official: z.boolean(),
      snapshot: z.string().exactOptional(),
    }),
  ),
  submission: z
    .object({ file: z.string(), sha256: z.string(), at: z.string(), snapshot: z.string().exactOptional() })
    .exactOptional(),
  forkedFrom: z.object({ attempt: z.string(), snapshot: z.string() }).exactOptional(),
});

/** Has a budget, and more states. */
const version2 = version1.extend({
  schemaVersion: z.literal(2),
  state: z.enum(states),
  history: z.array(z.object({ state: z.enum(states), at: z.string(), reason: z.string().exactOptional() })),
  budgetSec: z.number().nullable(),
});

/** Has the conditions of a measured attempt. */
const version3 = version2.extend({
  schemaVersion: z.literal(3),
  protocol: protocolSchema.exactOptional(),
  debrief: debriefSchema.exactOptional(),
});

const versions = [version1, version2, version3] as const;

type Stored = z.infer<typeof version3>;

/** Of any version, as the newest. Attempts of version 1 were made without a clock: they have no budget. */
const anyVersion = z.union([
  version3,
  version2.transform((old): Stored => ({ ...old, schemaVersion: 3 })),
  version1.transform((old): Stored => ({ ...old, schemaVersion: 3, budgetSec: null })),
]);

/** attempt.json's text; places in the attempt's folder are kept relative, so that a store can be moved. */
export function encodeRecord(record: AttemptRecord, dir: string): string {
  const place = (file: string): string => path.relative(dir, file).split(path.sep).join('/');
  const { submission, grades, damage: _damage, ...rest } = record;
  const stored: Stored = {
    ...rest,
    roots: [...record.roots],
    allowedHostEnv: [...record.allowedHostEnv],
    history: [...record.history],
    grades: grades.map((grade) => ({ ...grade, dir: place(grade.dir) })),
    ...(submission ? { submission: { ...submission, file: place(submission.file) } } : {}),
  };
  return `${JSON.stringify(stored, null, 2)}\n`;
}

/** Errors: `UserError` that says what is wrong with the text. */
export function decodeRecord(text: string, dir: string): AttemptRecord {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw damaged('attempt.json is torn or no JSON', error);
  }
  const parsed = anyVersion.safeParse(data);
  if (!parsed.success) {
    const version = z.looseObject({ schemaVersion: z.unknown() }).safeParse(data).data?.schemaVersion;
    const known = versions.find((schema) => schema.shape.schemaVersion.safeParse(version).success);
    const where = known?.safeParse(data).error?.issues[0]?.path.join('.') ?? '';
    throw damaged(
      known
        ? `attempt.json is not as its version is written (${where || 'its shape'})`
        : `attempt.json is of version ${JSON.stringify(version) ?? 'none'}, not ${versions.length}`,
      parsed.error,
    );
  }
  const record = parsed.data;
  const id = path.basename(dir);
  if (record.id !== id)
    throw damaged(`attempt.json is of the attempt ${JSON.stringify(record.id)}, not of this folder`);
  if (record.volume !== workspaceName(id)) throw damaged('attempt.json names a volume that is not its own');
  const place = (file: string): string => path.resolve(dir, file);
  return {
    ...record,
    grades: record.grades.map((grade) => ({ ...grade, dir: place(grade.dir) })),
    ...(record.submission
      ? { submission: { ...record.submission, file: place(record.submission.file) } }
      : {}),
  };
}

function damaged(what: string, cause?: unknown): UserError {
  return new UserError(`${what}.`, {
    nextStep: 'Delete the attempt, or use the version of the product that wrote it.',
    cause,
  });
}

/** Stands in a list for an attempt whose file cannot be used, with the reason. */
export function damagedRecord(dir: string, damage: string): AttemptRecord {
  const id = path.basename(dir);
  return {
    schemaVersion: 3,
    id,
    task: { name: path.basename(path.dirname(dir)), path: '', digest: '' },
    state: 'lost',
    mode: 'channel',
    createdAt: '',
    workdir: '',
    image: { reference: '', id: '' },
    volume: workspaceName(id),
    roots: [],
    limits: { cpus: null, memoryMb: null },
    budgetSec: null,
    env: {},
    allowedHostEnv: [],
    history: [{ state: 'lost', at: '', reason: damage }],
    grades: [],
    damage,
  };
}
