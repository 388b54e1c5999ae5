import * as vscode from 'vscode';
import { findFixes, isHarmless, joinFixes } from './fixes.ts';
import type { TomlFix } from './fixTypes.ts';
import { isHarborTask } from './isHarborTask.ts';
import { diagnosticSource } from './taskTomlDiagnostics.ts';
import { rangeOf } from './taskTomlDocuments.ts';
import { TextLines } from './textLines.ts';
import { applyEdits, type TomlEdit } from './tomlEdits.ts';
import { tomlTokens } from './tomlTokens.ts';

const fixAllKind = vscode.CodeActionKind.SourceFixAll.append('e2eSwe');

export const fixActionsMetadata: vscode.CodeActionProviderMetadata = {
  providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, fixAllKind],
};

/** Quick fixes for what stands at the cursor, and all harmless ones at once. */
export const fixActions: vscode.CodeActionProvider = {
  async provideCodeActions(document, range, context) {
    const text = document.getText();
    if (!isHarborTask(tomlTokens(text))) return [];
    const { parseTaskToml } = await import('#core/task/manifest.ts');
    const fixes = findFixes(text, parseTaskToml);
    const wants = (kind: vscode.CodeActionKind): boolean => context.only?.contains(kind) ?? true;
    const here = wants(vscode.CodeActionKind.QuickFix)
      ? fixes.filter(({ span }) => rangeOf(document, span).intersection(range))
      : [];
    const actions = here.map((fix) => quickFix(document, text, fix, context.diagnostics));
    const isAsked = context.only !== undefined && wants(fixAllKind);
    // The light bulb offers it beside a fix that has company.
    if (isAsked || (here.some(isHarmless) && fixes.filter(isHarmless).length > 1)) {
      const edits = joinFixes(text, fixes, parseTaskToml);
      const kind = isAsked ? fixAllKind : vscode.CodeActionKind.QuickFix;
      if (edits.length > 0) actions.push(fixAll(document, edits, kind));
    }
    return actions;
  },
};

function quickFix(
  document: vscode.TextDocument,
  text: string,
  fix: TomlFix,
  diagnostics: readonly vscode.Diagnostic[],
): vscode.CodeAction {
  const action = new vscode.CodeAction(fix.title, vscode.CodeActionKind.QuickFix);
  const range = rangeOf(document, fix.span);
  action.diagnostics = diagnostics.filter(
    (one) => one.source === diagnosticSource && one.code === fix.code && one.range.isEqual(range),
  );
  action.isPreferred = true;
  action.edit = workspaceEdit(document, fix.edits);
  if (fix.select) action.command = selecting(document, applyEdits(text, fix.edits), fix.select);
  return action;
}

function fixAll(
  document: vscode.TextDocument,
  edits: readonly TomlEdit[],
  kind: vscode.CodeActionKind,
): vscode.CodeAction {
  const action = new vscode.CodeAction('Fix all old spellings in this file', kind);
  action.edit = workspaceEdit(document, edits);
  return action;
}

function workspaceEdit(document: vscode.TextDocument, edits: readonly TomlEdit[]): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const { span, text } of edits) edit.replace(document.uri, rangeOf(document, span), text);
  return edit;
}

/** Selects what the person has to fill in; places are those of the text after the fix. */
function selecting(
  document: vscode.TextDocument,
  fixed: string,
  { start, end }: { readonly start: number; readonly end: number },
): vscode.Command {
  const lines = new TextLines(fixed);
  const line = lines.lineOf(start);
  const from = start - lines.lineSpan(line).start;
  const selection = new vscode.Range(line - 1, from, line - 1, from + end - start);
  return { title: 'Select the number', command: 'vscode.open', arguments: [document.uri, { selection }] };
}
