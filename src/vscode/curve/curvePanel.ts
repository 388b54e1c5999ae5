import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { ScoreCurve } from '#core/attempt/curvePoints.ts';
import { type CurveTheme, renderCurveSvg } from '#core/attempt/curveSvg.ts';
import { renderCurveCsv } from '#core/attempt/curveTable.ts';
import { DisposableStore } from '#core/base/disposable.ts';
import { isCancellation } from '#core/base/errors.ts';
import type { ErrorReporter } from '#vscode/commands/reportError.ts';
import { type CurveMessage, curveMessage, curvePage } from './curvePage.ts';

/** Shows a curve in an editor of its own, in the colours of the window's theme. */
export function showCurve(curve: ScoreCurve, reportError: ErrorReporter): void {
  const panel = vscode.window.createWebviewPanel(
    'e2eSwe.scoreCurve',
    `Score curve: ${curve.task.name}`,
    vscode.ViewColumn.Active,
    { enableScripts: true, localResourceRoots: [] },
  );
  const store = new DisposableStore();
  const draw = (): void => {
    panel.webview.html = curvePage(curve, currentTheme(), randomBytes(16).toString('hex'));
  };
  store.add(vscode.window.onDidChangeActiveColorTheme(draw));
  store.add(
    panel.webview.onDidReceiveMessage((data: unknown) => {
      const message = curveMessage.safeParse(data);
      if (!message.success) return;
      void exportCurve(curve, message.data).catch((error: unknown) => {
        if (!isCancellation(error)) reportError('Export score curve', error);
      });
    }),
  );
  panel.onDidDispose(() => store.dispose());
  draw();
}

function currentTheme(): CurveTheme {
  switch (vscode.window.activeColorTheme.kind) {
    case vscode.ColorThemeKind.Dark:
      return 'dark';
    case vscode.ColorThemeKind.HighContrast:
      return 'highContrast';
    default:
      return 'light';
  }
}

async function exportCurve(curve: ScoreCurve, message: CurveMessage): Promise<void> {
  const format = message.export;
  const name = `score-curve-${curve.attempt}.${format}`;
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri;
  const target = await vscode.window.showSaveDialog({
    title: `Export score curve as ${format.toUpperCase()}`,
    filters: { [format.toUpperCase()]: [format] },
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : { defaultUri: vscode.Uri.file(name) }),
  });
  if (target) await vscode.workspace.fs.writeFile(target, contentOf(curve, message));
}

function contentOf(curve: ScoreCurve, message: CurveMessage): Buffer {
  if (message.export === 'csv') return Buffer.from(renderCurveCsv(curve));
  if (message.export === 'svg') return Buffer.from(renderCurveSvg(curve, currentTheme()));
  return Buffer.from(message.data.slice(message.data.indexOf(',') + 1), 'base64');
}
