import * as vscode from 'vscode';
import { completionsAt } from './completionsAt.ts';
import { keyMarkdown } from './keyHover.ts';
import { rangeOf } from './taskTomlDocuments.ts';

/** Suggests the keys of the table, its values, and the names of tables. */
export const keyCompletion: vscode.CompletionItemProvider = {
  provideCompletionItems(document, position) {
    return completionsAt(document.getText(), document.offsetAt(position)).map((entry) => {
      const kind =
        entry.kind === 'key'
          ? vscode.CompletionItemKind.Property
          : entry.kind === 'table'
            ? vscode.CompletionItemKind.Module
            : vscode.CompletionItemKind.EnumMember;
      const item = new vscode.CompletionItem(entry.label, kind);
      item.insertText = new vscode.SnippetString(entry.snippet);
      item.filterText = entry.filter;
      item.range = rangeOf(document, entry.replace);
      item.documentation = new vscode.MarkdownString(keyMarkdown(entry.doc));
      return item;
    });
  },
};

/** After these the list opens by itself. */
export const completionTriggers: readonly string[] = ['[', '"', '='];
