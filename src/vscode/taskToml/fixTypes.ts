import type { ParsedToml } from '#core/task/manifest.ts';
import type { TextLines } from './textLines.ts';
import type { TomlEdit } from './tomlEdits.ts';
import type { Span, TomlTokens } from './tomlTokens.ts';

/** Core's reader of task.toml; handed in, since core is loaded at its first use. */
export type ParseToml = (text: string) => ParsedToml;

/** A repair of one diagnostic. */
export interface TomlFix {
  /** The code of the diagnostic. */
  readonly code: string;
  /** The place of the diagnostic, and where the fix is offered. */
  readonly span: Span;
  readonly title: string;
  readonly edits: readonly TomlEdit[];
  /** Harbor reads the same from the text as before. The others say what the author meant, and change what it reads. */
  readonly keepsMeaning: boolean;
  /** What the person has to fill in, in the text after the fix. */
  readonly select?: Span;
}

/** What the makers of fixes look at. */
export interface FixInput {
  readonly text: string;
  readonly tokens: TomlTokens;
  readonly lines: TextLines;
  readonly parsed: ParsedToml;
  readonly parse: ParseToml;
}
