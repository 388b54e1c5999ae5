import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { SnapshotHead } from './types.ts';

const idPattern = /^[a-z0-9]{8,40}$/;

const version1 = z.object({
  schemaVersion: z.literal(1),
  id: z.string().regex(idPattern),
  at: z.string(),
  reason: z.enum(['save', 'command', 'activity', 'grade', 'submit', 'fork', 'reset', 'manual']),
  source: z.enum(['engine', 'container']),
  roots: z.array(z.string()),
  tree: z.string().regex(/^[0-9a-f]{64}$/),
  entries: z.number(),
  bytes: z.number(),
  skipped: z.array(
    z.object({
      name: z.string(),
      what: z.enum(['special', 'too-large', 'unreadable', 'other']),
      detail: z.string(),
    }),
  ),
  unstable: z.array(z.string()),
  durationMs: z.number(),
  isPinned: z.literal(true).exactOptional(),
});

/** Sorts after `after`, the newest that there is, also where the clock was set back meanwhile. */
export function makeSnapshotId(after: string | undefined): string {
  const last = after === undefined ? 0 : Number.parseInt(after.slice(0, 8), 36);
  const now = Math.max(Date.now(), Number.isNaN(last) ? 0 : last + 1);
  return `${now.toString(36).padStart(8, '0')}${randomInt(36 ** 4)
    .toString(36)
    .padStart(4, '0')}`;
}

export function isSnapshotId(text: string): boolean {
  return idPattern.test(text);
}

export function encodeHead(head: SnapshotHead): string {
  return `${JSON.stringify(head)}\n`;
}

/** Errors: one that says what is wrong with the text. */
export function decodeHead(text: string, id: string): SnapshotHead {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new Error('is torn or no JSON', { cause: error });
  }
  const parsed = version1.safeParse(data);
  if (!parsed.success) {
    const version = z.looseObject({ schemaVersion: z.unknown() }).safeParse(data).data?.schemaVersion;
    throw new Error(
      version === 1
        ? `is not as this version writes it (${parsed.error.issues[0]?.path.join('.')})`
        : `is of version ${JSON.stringify(version) ?? 'none'}, not 1`,
    );
  }
  if (parsed.data.id !== id) throw new Error(`is of the snapshot ${parsed.data.id}`);
  return parsed.data;
}
