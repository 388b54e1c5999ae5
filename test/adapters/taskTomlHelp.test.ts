import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nullLog } from '#core/base/log.ts';
import { registerTaskToml } from '#vscode/taskToml/registerTaskToml.ts';
import { Uri } from '../fakes/vscode.ts';
import { editor, FakeDocument, Position, type Range } from './taskTomlEditor.ts';

vi.mock('vscode', async (original) =>
  (await import('./taskTomlEditor.ts')).withEditor(await original<typeof import('../fakes/vscode.ts')>()),
);

let registration: { dispose(): void };

beforeEach(() => {
  registration = registerTaskToml(nullLog);
});

afterEach(() => registration.dispose());

function documentOf(text: string): FakeDocument {
  return new FakeDocument(Uri.file('/nowhere/task.toml'), text);
}

function hoverAt(document: FakeDocument, line: number, character: number): string | undefined {
  const hover = editor.providers.get('hover')?.provideHover?.(document, new Position(line, character)) as
    | { readonly contents: { readonly value: string }; readonly range: Range }
    | undefined;
  return hover && `${hover.range}\n${hover.contents.value}`;
}

describe('hovers', () => {
  const text = `version = "1.0"

[environment]
network_mode = "no-network"
env = { LANG = "C" }

[[steps]]
name = "a"
[steps.verifier.environment.healthcheck]
interval_sec = 2

[verifier]
bogus = 1
env.SEED = "1"
`;

  it('tell meaning, unit, default, version and an example', () => {
    expect(hoverAt(documentOf(text), 9, 3)).toBe(
      [
        '10:1-10:13',
        '**`interval_sec`** — number, in seconds',
        '',
        'Time between two attempts.',
        '',
        'Default: `5.0`  ',
        'Since schema 1.1',
        '',
        '```toml',
        '[[steps]]',
        'name = "design"',
        '[steps.verifier.environment.healthcheck]',
        'command = "curl -sf localhost:8080"',
        'interval_sec = 5.0',
        '```',
      ].join('\n'),
    );
  });

  it('are there for keys, tables and fixed values, not for unknown keys, texts and blanks', () => {
    const document = documentOf(text);
    expect(hoverAt(document, 0, 2)).toContain('**Deprecated:** write `schema_version` instead.');
    expect(hoverAt(document, 2, 4)).toMatch(/^3:2-3:13\n\*\*`environment`/);
    expect(hoverAt(document, 3, 20)).toMatch(/^4:16-4:28\n\*\*`network_mode`.*`"allowlist"`/s);
    expect(hoverAt(document, 4, 9)).toContain('**`env`**');
    expect(hoverAt(document, 7, 8)).toBeUndefined();
    expect(hoverAt(document, 8, 9)).toMatch(/^9:8-9:16\n\*\*`verifier`/);
    expect(hoverAt(document, 8, 20)).toMatch(/^9:17-9:28\n\*\*`environment`/);
    expect(hoverAt(document, 12, 2)).toBeUndefined();
    expect(hoverAt(document, 13, 1)).toMatch(/^14:1-14:4\n\*\*`env`/);
    expect(hoverAt(document, 1, 0)).toBeUndefined();
  });

  it('stay while the text is half typed', () => {
    const text = '[verifier]\nartifacts = [\ntimeout_sec = \n[agent\nuser = "x"\n';
    expect(hoverAt(documentOf(text), 2, 3)).toContain('`timeout_sec`');
    expect(hoverAt(documentOf(text), 4, 1)).toContain('runs the agent');
  });
});

/** Labels and snippets where the text has a bar. */
function suggested(marked: string): readonly string[] {
  const offset = marked.indexOf('|');
  const document = documentOf(marked.replace('|', ''));
  const items = editor.providers
    .get('completion')
    ?.provideCompletionItems?.(document, document.positionAt(offset)) as readonly {
    readonly label: string;
    readonly insertText: { readonly value: string };
  }[];
  return items.map(({ label, insertText }) => `${label} -> ${insertText.value}`);
}

describe('completion', () => {
  it('gives the keys of the table that are not written yet', () => {
    const keys = suggested(
      '[environment]\ncpus = 1\n|\nmemory_mb = 2\n\n[environment.healthcheck]\ncommand = "x"\n',
    );
    expect(keys).toContain(`network_mode -> network_mode = "\${1|public,no-network,allowlist|}"`);
    expect(keys).toContain('tpu -> [environment.tpu]');
    expect(keys).toContain('mcp_servers -> [[environment.mcp_servers]]');
    for (const key of ['cpus', 'memory_mb', 'memory', 'healthcheck', 'agent']) {
      expect(keys.filter((one) => one.startsWith(`${key} `))).toEqual([]);
    }
    expect(suggested('[[verifier.collect]]\nti|')).toContain(`timeout_sec -> timeout_sec = \${1:60.0}`);
    expect(suggested('|')).toContain(`artifacts -> artifacts = ["\${1:/app}"]`);
  });

  it('gives values', () => {
    expect(suggested('[verifier]\nenvironment_mode = |\n')).toEqual([
      '"shared" -> "shared"',
      '"separate" -> "separate"',
    ]);
    expect(suggested('[environment]\nallow_internet = f|\n')).toEqual(['true -> true', 'false -> false']);
    expect(suggested('[verifier]\ntimeout_sec = |\n')).toEqual([]);
  });

  it('gives tables in headers', () => {
    expect(suggested('[metadata]\n\n[ver|')).toContain('verifier.environment -> verifier.environment]');
    expect(suggested('[metadata]\n\n[[|]]')).toContain('steps -> steps');
  });

  it('keeps out of values, comments and other files', () => {
    expect(suggested('artifacts = [\n|\n]\n')).toEqual([]);
    expect(suggested('[verifier]\n# t|\n')).toEqual([]);
    expect(suggested('[job]\na = 1\n|')).toEqual([]);
  });
});
