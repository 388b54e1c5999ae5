import * as vscode from 'vscode';
import type { PlannedItem, PlannedMessage } from './planItems.ts';

/** How many results are told to VS Code before other work gets its turn. */
const batchSize = 500;

/** Puts the planned children below an item; what was there before is gone. */
export function buildChildren(
  controller: vscode.TestController,
  item: vscode.TestItem,
  planned: readonly PlannedItem[],
): void {
  item.children.replace(planned.map((child) => buildItem(controller, child)));
}

function buildItem(controller: vscode.TestController, planned: PlannedItem): vscode.TestItem {
  const { place } = planned;
  const uri = place && vscode.Uri.file(place.file);
  const item = controller.createTestItem(planned.id, planned.label, uri);
  item.sortText = planned.sortText;
  if (place) item.range = new vscode.Range(place.line - 1, 0, place.line - 1, 0);
  if (planned.children.length > 0) buildChildren(controller, item, planned.children);
  return item;
}

/** Tells the run every planned outcome, in batches: thousands at once would freeze the extension host. */
export async function publishOutcomes(
  run: vscode.TestRun,
  item: vscode.TestItem,
  planned: PlannedItem,
): Promise<void> {
  let told = 0;
  for (const [target, plan] of pairs(item, planned)) {
    tell(run, target, plan);
    told++;
    if (told % batchSize === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function* pairs(item: vscode.TestItem, planned: PlannedItem): Generator<[vscode.TestItem, PlannedItem]> {
  yield [item, planned];
  for (const child of planned.children) {
    const target = item.children.get(child.id);
    if (target) yield* pairs(target, child);
  }
}

function tell(run: vscode.TestRun, item: vscode.TestItem, { outcome }: PlannedItem): void {
  switch (outcome?.state) {
    case undefined:
      return;
    case 'passed':
      run.passed(item, outcome.durationMs);
      return;
    case 'skipped':
      run.skipped(item);
      return;
    case 'failed':
      run.failed(item, testMessage(item, outcome.message), outcome.durationMs);
      return;
    case 'errored':
      run.errored(item, testMessage(item, outcome.message), outcome.durationMs);
      return;
  }
}

function testMessage(item: vscode.TestItem, planned: PlannedMessage): vscode.TestMessage {
  const message =
    planned.expected !== undefined && planned.actual !== undefined
      ? vscode.TestMessage.diff(planned.text, planned.expected, planned.actual)
      : new vscode.TestMessage(planned.text);
  const { at } = planned;
  if (at) message.location = new vscode.Location(at.uri, new vscode.Position(at.line - 1, 0));
  else if (item.uri && item.range) message.location = new vscode.Location(item.uri, item.range);
  return message;
}
