import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { nullLog } from '#core/base/log.ts';
import { registerTaskToml } from '#vscode/taskToml/registerTaskToml.ts';
import { tomlTokens } from '#vscode/taskToml/tomlTokens.ts';
import { Uri } from '../fakes/vscode.ts';
import { type CodeAction, CodeActionKind, editor, FakeDocument, Position, Range } from './taskTomlEditor.ts';

vi.mock('vscode', async (original) =>
  (await import('./taskTomlEditor.ts')).withEditor(await original<typeof import('../fakes/vscode.ts')>()),
);

const repository = fileURLToPath(new URL('../..', import.meta.url));
let registration: { dispose(): void };
let folder = '';

beforeEach(() => {
  registration = registerTaskToml(nullLog);
});

afterEach(() => {
  for (const document of editor.documents) document.close();
  registration.dispose();
  if (folder) rmSync(folder, { recursive: true, force: true });
  folder = '';
});

const severities = ['error', 'warning', 'info', 'hint'];

/** Diagnostics as a person reads them, in the order of the text. */
function shown(document: FakeDocument): readonly string[] | undefined {
  return editor.diagnostics
    .get(String(document.uri))
    ?.map(({ range, severity, code, message, source, tags }) => {
      expect(source).toBe('e2e-swe');
      return `${range} ${severities[severity]} ${code}: ${message}${tags?.includes(2) ? ' [deprecated]' : ''}`;
    });
}

function opened(text: string, at = '/nowhere/task.toml', scheme = 'untitled'): FakeDocument {
  return editor.open(new FakeDocument(new Uri(scheme, at), text));
}

/** The diagnostics of a text, once they are there. */
async function diagnosed(text: string): Promise<readonly string[]> {
  const document = opened(text);
  await vi.waitFor(() => expect(shown(document)).toBeDefined());
  const found = shown(document) ?? [];
  document.close();
  return found;
}

/** A copy of the bundled task, open in the editor. */
function openTask(change: (text: string) => string = (text) => text): FakeDocument {
  folder = mkdtempSync(path.join(tmpdir(), 'e2e-swe-toml-'));
  cpSync(path.join(repository, 'tasks/tidequery'), folder, { recursive: true });
  const file = path.join(folder, 'task.toml');
  const text = change(
    'version = "1.0"\nartifacts = ["/app"]\n\n[verifier]\nenvironment_mode = "separate"\ntest_case_count = 46\n',
  );
  writeFileSync(file, text);
  return opened(text.replace(/^\uFEFF/, ''), file, 'file');
}

describe('diagnostics', () => {
  it('stand at the key or the value that they are about', async () => {
    const text = `schema_version = "1.4"

[verifier]
environment_mode = "both"
timeout_sec = "soon" # later
artifacts = ["/app"]
test_case_count = 0

[agent]
allow_internet = false

[environment]
cpus = 2.5
memory = "2G"
docker = "x"
allowed_hosts = ["https://pkg.test"]

[[environment.mcp_servers]]
name = "docs"

[[verifier.collect]]
service = "main"

[environment.env]
LANG = 1
`;
    expect([...(await diagnosed(text))].sort(byLine)).toEqual([
      "4:20-4:26 error invalid-value: verifier.environment_mode: Input should be 'shared' or 'separate'.",
      '5:15-5:21 error invalid-value: verifier.timeout_sec: Input should be a valid number, unable to parse string as a number.',
      '6:1-6:10 warning artifacts-wrong-table: Harbor ignores verifier.artifacts: write artifacts above the first table header.',
      '7:19-7:20 warning invalid-test-case-count: verifier.test_case_count is not a whole number above zero: the reward alone decides.',
      '10:1-10:15 warning unknown-key: Harbor ignores agent.allow_internet here: write network_mode.',
      '13:8-13:11 error invalid-value: environment.cpus: Input should be a valid integer, got a number with a fractional part.',
      '14:1-14:7 warning deprecated-key: memory is deprecated: write memory_mb in MiB instead. [deprecated]',
      '15:1-15:7 warning unknown-key: Harbor ignores environment.docker, which is no key of its task format.',
      '16:17-16:37 error invalid-value: environment.allowed_hosts: allowed_hosts entries must be hostnames, IP addresses, or IP CIDR ranges, not URLs, ports, or paths.',
      "18:1-18:28 error invalid-value: environment.mcp_servers[0]: 'url' is required for transport 'sse'.",
      '21:1-21:21 error missing-key: verifier.collect[0].command is missing; Harbor requires it.',
      '25:8-25:9 error invalid-value: environment.env.LANG: Input should be a valid string.',
    ]);
  });

  it('stand right with CR LF, inline tables and dotted keys', async () => {
    const text =
      'version = "1.0"\r\nverifier = { test_case_count = 3, timeout_sec = [] }\r\nenvironment.memory = "1G"\r\n';
    expect([...(await diagnosed(text))].sort(byLine)).toEqual([
      '1:1-1:8 hint legacy-version: version is the old name of schema_version; Harbor reads both. [deprecated]',
      '2:49-2:51 error invalid-value: verifier.timeout_sec: Input should be a valid number.',
      '3:1-3:19 warning deprecated-key: memory is deprecated: write memory_mb in MiB instead. [deprecated]',
    ]);
  });

  it('show where the text is no TOML', async () => {
    expect(await diagnosed('[verifier]\ntimeout_sec = 6O\n')).toEqual([
      expect.stringMatching(/^2:15-2:17 error toml-syntax: task\.toml is not valid TOML: /),
    ]);
    expect(await diagnosed('[metadata]\na = 1\n[metadata\n')).toEqual([
      expect.stringMatching(/^3:.* error toml-syntax: /),
    ]);
    expect(await diagnosed('[verifier]\ntest_case_count = 1\nenv = { A = "1",\n B = "2" }\n')).toEqual([
      expect.stringMatching(/^3:.* error toml-syntax: task\.toml has a line break inside an inline table/),
    ]);
  });

  it.each([
    ['go-task', 'version = "3"\n\n[tasks.build]\ncmds = ["go build"]\n'],
    ['a tool of its own', '[job]\nname = "x"\n\n[[job.steps]]\nrun = "make"\n'],
    ['nothing yet', '\n# to do\n'],
  ])('say nothing about a file of another kind: %s', async (_, text) => {
    expect(await diagnosed(text)).toEqual([]);
    const actions = editor.providers.get('actions')?.provideCodeActions;
    expect(await actions?.(opened(text), new Range(0, 0, 3, 0), { diagnostics: [] })).toEqual([]);
    expect(editor.providers.get('hover')?.provideHover?.(opened(text), new Position(0, 1))).toBeUndefined();
  });

  it.each(['schema_version = "1.3"\n', 'version = "1.0"\n', '[metadata]\nname = "x"\n', 'artifacts = []\n'])(
    'take %j for a Harbor task',
    async (text) => {
      expect(await diagnosed(text)).toContainEqual(
        expect.stringContaining('warning missing-test-case-count'),
      );
    },
  );

  it('say nothing about other files and about versions in git', async () => {
    opened('[verifier]\ntimeout_sec = []\n', '/nowhere/other.toml');
    opened('[verifier]\ntimeout_sec = []\n', '/nowhere/task.toml', 'git');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(editor.diagnostics.size).toBe(0);
  });

  it('follow the text after a pause, and go with the document', async () => {
    const document = opened('[verifier]\ntest_case_count = 3\n');
    await vi.waitFor(() => expect(shown(document)).toEqual([]));
    document.type('[verifier]\ntest_case_count = 0\n');
    document.type('[verifier]\ntest_case_count = []\n');
    expect(shown(document)).toEqual([]);
    await vi.waitFor(() => expect(shown(document)).toHaveLength(1));
    document.close();
    expect(shown(document)).toBeUndefined();
  });

  it('tell what is wrong with the folder, also while the text is not saved', async () => {
    const document = openTask();
    rmSync(path.join(folder, 'instruction.md'));
    const missing =
      '1:1-1:16 error missing-file: instruction.md is missing: it is the spec that a builder gets.';
    await vi.waitFor(() => expect(shown(document)).toContain(missing));
    document.type(`${document.getText()}# more\n`);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(shown(document)).toContain(missing);
    writeFileSync(path.join(folder, 'instruction.md'), 'Do it.\n');
    document.save();
    await vi.waitFor(() => expect(shown(document)).not.toContain(missing));
  });

  it('hear of files that come and go beside an open task.toml', async () => {
    const document = openTask();
    await vi.waitFor(() => expect(shown(document)).toBeDefined());
    const spec = path.join(folder, 'instruction.md');
    rmSync(spec);
    editor.deleted.fire({ files: [Uri.file(spec)] });
    await vi.waitFor(() => expect(String(shown(document))).toContain('instruction.md is missing'));
    editor.deleted.fire({ files: [document.uri] });
    expect(shown(document)).toBeUndefined();
  });

  it('link the other file that a problem is in', async () => {
    const document = openTask();
    writeFileSync(path.join(folder, 'tests/test.sh'), '#!/bin/bash\r\necho\r\n');
    await vi.waitFor(() => expect(String(shown(document))).toContain('crlf-test-script'));
    const found = editor.diagnostics
      .get(String(document.uri))
      ?.find(({ code }) => code === 'crlf-test-script');
    expect(found?.relatedInformation?.[0]?.location.uri.path).toBe(path.join(folder, 'tests/test.sh'));
  });

  it('tell of the byte order mark on disk, which the editor hides', async () => {
    const document = openTask((text) => `\uFEFF${text}`);
    await vi.waitFor(() => expect(String(shown(document))).toContain('1:1-1:16 error toml-bom'));
  });
});

function byLine(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10);
}

async function actionsAt(
  document: FakeDocument,
  range: Range,
  only?: unknown,
): Promise<readonly CodeAction[]> {
  const context = { diagnostics: editor.diagnostics.get(String(document.uri)) ?? [], only };
  const provided = editor.providers.get('actions')?.provideCodeActions?.(document, range, context);
  return (await provided) as readonly CodeAction[];
}

describe('quick fixes', () => {
  const text =
    'version = "1.0"\n[environment]\nmemory = "2G" # enough\nallow_internet = false\n\n[verifier]\n';

  it('repair what stands at the cursor', async () => {
    const document = opened(text);
    await vi.waitFor(() => expect(shown(document)).toHaveLength(4));
    const [fix, all, ...more] = await actionsAt(document, new Range(2, 3, 2, 3));
    expect([fix?.title, all?.title, more]).toEqual([
      'Write memory_mb = 2048',
      'Fix all old spellings in this file',
      [],
    ]);
    expect(fix?.isPreferred).toBe(true);
    expect(fix?.diagnostics.map(({ code }) => code)).toEqual(['deprecated-key']);
    if (fix?.edit) document.apply(fix.edit);
    expect(document.getText()).toBe(text.replace('memory = "2G"', 'memory_mb = 2048'));
    await vi.waitFor(() => expect(shown(document)).toHaveLength(3));
  });

  it('repair all on save, where that is asked for', async () => {
    const document = opened(text);
    const [all, ...more] = await actionsAt(document, new Range(0, 0, 0, 0), CodeActionKind.SourceFixAll);
    expect([all?.kind.value, more]).toEqual(['source.fixAll.e2eSwe', []]);
    if (all?.edit) document.apply(all.edit);
    expect(document.getText()).toBe(
      'schema_version = "1.0"\n[environment]\nmemory_mb = 2048 # enough\nnetwork_mode = "no-network"\n\n[verifier]\n',
    );
    expect(await actionsAt(document, new Range(0, 0, 0, 0), CodeActionKind.SourceFixAll)).toEqual([]);
  });

  it('write the number of tests and select it', async () => {
    const document = opened(text);
    const [fix] = await actionsAt(document, new Range(5, 0, 5, 0));
    expect(fix?.title).toBe('Add test_case_count, then fill in the number of hidden tests');
    if (fix?.edit) document.apply(fix.edit);
    expect(document.getText().split('\n')[6]).toMatch(/^test_case_count = 1 /);
    expect(fix?.command?.command).toBe('vscode.open');
    const [uri, options] = (fix?.command?.arguments ?? []) as unknown as [
      unknown,
      { readonly selection: Range },
    ];
    expect([uri, String(options.selection)]).toEqual([document.uri, '7:19-7:20']);
  });
});

test('half typed and broken texts end in time and keep places inside the text', () => {
  const text = openTask().getText();
  const noise = ['[', ']', '{', '}', '"', "'", '=', ',', '#', '\n', '\u00a0', '\f', '"""', '\\', '.'];
  for (let index = 0; index < text.length; index++) {
    for (const extra of [...noise, '']) {
      const broken = text.slice(0, index) + extra + (extra ? text.slice(index) : '');
      const { pairs, headers, items } = tomlTokens(broken);
      const spans = [
        ...pairs.flatMap(({ key, value }) => [key, value]),
        ...headers.map(({ span }) => span),
        ...items.map(({ value }) => value),
      ];
      expect(
        spans.filter(({ start, end }) => start > end || end > broken.length),
        broken,
      ).toEqual([]);
    }
  }
});
