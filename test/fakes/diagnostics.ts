import type { Range, Uri } from './vscode.ts';

export class FakeDiagnostic {
  source?: string;
  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity: number,
  ) {}
}

/** The Problems view as lines of text: "file:line: message [source]". */
export function createLanguages(show: (problems: readonly string[]) => void) {
  return {
    createDiagnosticCollection: () => ({
      set: (entries: readonly [Uri, readonly FakeDiagnostic[]][]) =>
        show(
          entries.flatMap(([uri, found]) =>
            found.map(
              ({ range, message, source }) => `${uri}:${range.start.line + 1}: ${message} [${source}]`,
            ),
          ),
        ),
      clear: () => show([]),
      dispose: () => undefined,
    }),
  };
}
