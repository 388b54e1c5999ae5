import type { TaskProblem } from '#core/task/types.ts';
import { isHarborTask } from './isHarborTask.ts';
import { legacyHints } from './legacyHints.ts';
import { locateProblem } from './locateProblem.ts';
import { TextLines } from './textLines.ts';
import { type Span, tomlTokens } from './tomlTokens.ts';

/** A problem as an editor shows it. */
export interface EditorProblem {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'hint';
  readonly message: string;
  readonly span: Span;
  /** Another file of the folder that the problem is about. */
  readonly file?: { readonly name: string; readonly line: number };
}

/** Seen in the bytes on disk only: the editor's text has neither mark nor encoding. */
const byteCodes: readonly string[] = ['toml-bom', 'toml-encoding'];

/**
 * What is wrong with the text of a task.toml and, where `dir` is given, with its folder. A text that is no Harbor task
 * has no problems.
 */
export async function checkTaskToml(text: string, dir?: string): Promise<readonly EditorProblem[]> {
  const tokens = tomlTokens(text);
  if (!isHarborTask(tokens)) return [];
  const lines = new TextLines(text);
  const found = (await problemsOf(text, dir)).map((problem): EditorProblem => {
    const { code, severity, message, file = 'task.toml', line = 1 } = problem;
    const other = file === 'task.toml' ? {} : { file: { name: file, line } };
    return { code, severity, message, span: locateProblem(text, tokens, lines, problem), ...other };
  });
  const hints = legacyHints(text, tokens).map(
    ({ code, message, span }): EditorProblem => ({ code, severity: 'hint', message, span }),
  );
  return [...found, ...hints];
}

/** As `loadTask` finds them, for a text that may not be saved yet. */
async function problemsOf(text: string, dir: string | undefined): Promise<readonly TaskProblem[]> {
  const { parseTaskToml } = await import('#core/task/manifest.ts');
  const { config, problems, scan, valid } = parseTaskToml(text);
  if (dir === undefined || !valid || config === undefined) return problems;
  const [{ folderFacts }, { folderProblems }, { resolveVerifier }] = await Promise.all([
    import('#core/task/folder.ts'),
    import('#core/task/folder-problems.ts'),
    import('#core/task/verifier.ts'),
  ]);
  const facts = await folderFacts(dir);
  return [
    ...problems,
    ...(await folderProblems(dir, { config, verifier: resolveVerifier(config), facts }, scan)),
  ];
}

/** What Harbor has against the bytes of the saved file. */
export async function checkBytes(text: string, dir: string): Promise<readonly EditorProblem[]> {
  const tokens = tomlTokens(text);
  if (!isHarborTask(tokens)) return [];
  const { loadTask } = await import('#core/task/load.ts');
  const { problems } = await loadTask(dir);
  const lines = new TextLines(text);
  return problems
    .filter(({ code }) => byteCodes.includes(code))
    .map(({ code, severity, message }) => ({ code, severity, message, span: lines.lineSpan(1) }));
}
