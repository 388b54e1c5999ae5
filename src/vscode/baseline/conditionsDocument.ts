import * as vscode from 'vscode';
import type { RecordSummary } from '#core/attempt/recordSummary.ts';
import type { AttemptRecord } from '#core/attempt/types.ts';
import type { AttemptRoom } from '#vscode/attempts/ports.ts';
import type { ReadDocument } from '#vscode/documents/readonlyFiles.ts';
import { durationText } from '#vscode/record/clockStatus.ts';
import { oneLine } from '#vscode/text.ts';
import { aiSentence } from './aiFeatures.ts';
import { conditionFacts, notControlled } from './words.ts';

export const conditionsScheme = 'e2e-swe-conditions';

export function conditionsUri(attemptId: string): vscode.Uri {
  return vscode.Uri.from({ scheme: conditionsScheme, path: '/Conditions.md', query: attemptId });
}

export function readConditionsDocument(room: Pick<AttemptRoom, 'read' | 'summary'>): ReadDocument {
  return async (uri) => {
    const record = await room.read(uri.query).catch(() => undefined);
    if (!record) return undefined;
    const { summary } = await room.summary(record.id);
    return new TextEncoder().encode(conditionsText(record, summary));
  };
}

/** Under what an attempt is measured, in Markdown; with what happened so far, and what is not controlled. */
export function conditionsText(record: AttemptRecord, summary: RecordSummary): string {
  const { protocol, budgetSec, task } = record;
  const title = `# Conditions of the attempt at ${plain(task.name)}`;
  if (!protocol) return `${title}\n\nIt is practice: it has no conditions, and its grades show everything.\n`;
  const { milestones, aiFeatures } = summary;
  const times: (readonly [string, string | undefined])[] = [
    ['Environment ready', milestones['environment-ready']],
    ['Clock started', milestones.started],
    ['Spec first shown', milestones['spec-opened']],
  ];
  return [
    title,
    'They were fixed before the spec was shown, and cannot be changed.',
    list([
      ...conditionFacts(protocol),
      ['Time', budgetSec === null ? 'no end' : `${durationText(budgetSec * 1000)}, then it is submitted`],
      ['Digest of the task', task.digest],
      ['Image', record.image.id],
    ]),
    '## So far',
    list(times.map(([name, utc]) => [name, utc ?? 'not yet'])),
    '## Not controlled',
    ...(aiFeatures ? [plain(aiSentence(aiFeatures))] : []),
    list(notControlled),
  ].join('\n\n');
}

function list(facts: readonly (readonly [string, string])[]): string {
  return facts.map(([name, value]) => `- **${plain(name)}:** ${plain(value)}`).join('\n');
}

/** A person's words are no markup. */
function plain(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]()#+!|<>~&]/g, '\\$&');
}
