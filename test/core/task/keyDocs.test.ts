import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it, test } from 'vitest';
import { findKeyDoc, keyDocs, keysOfTable } from '#core/task/keyDocs.ts';
import { taskJsonSchema } from '#core/task/keyDocs-json-schema.ts';
import type { KeyDoc } from '#core/task/keyDocs-tables.ts';
import { parseTaskToml } from '#core/task/manifest.ts';
import {
  agentShape,
  artifactShape,
  authorShape,
  collectShape,
  packageShape,
  solutionShape,
  stepShape,
  taskShape,
  verifierShape,
} from '#core/task/schema.ts';
import {
  environmentShape,
  healthcheckShape,
  mcpServerShape,
  tpuShape,
} from '#core/task/schema-environment.ts';
import { readToml } from '#core/task/toml-read.ts';
import { fixture, type HarborAnswer, readJson } from './support.ts';

/** The keys that a table of task.toml has, by the path of the table. */
function tables(docs: readonly KeyDoc[], under = ''): Map<string, readonly string[]> {
  const out = new Map<string, readonly string[]>([[under, docs.map((doc) => doc.key).sort()]]);
  for (const doc of docs) {
    if (!doc.inner) continue;
    for (const [path, keys] of tables(doc.inner, under ? `${under}.${doc.key}` : doc.key))
      out.set(path, keys);
  }
  return out;
}

function everyDoc(docs: readonly KeyDoc[], under: readonly string[] = []): { doc: KeyDoc; path: string[] }[] {
  return docs.flatMap((doc) => {
    const path = [...under, doc.key];
    return [{ doc, path }, ...everyDoc(doc.inner ?? [], path)];
  });
}

const every = everyDoc(keyDocs);

test('every key of the schemas is documented, and no other', () => {
  const keys = (shape: object, ...more: string[]): string[] => [...Object.keys(shape), ...more].sort();
  const environmentTables = (at: string): [string, string[]][] => [
    [at, keys(environmentShape, 'memory', 'storage', 'allow_internet')],
    [`${at}.tpu`, keys(tpuShape)],
    [`${at}.mcp_servers`, keys(mcpServerShape)],
    [`${at}.healthcheck`, keys(healthcheckShape)],
  ];
  const verifierTables = (at: string, ...more: string[]): [string, string[]][] => [
    [at, keys(verifierShape, ...more)],
    [`${at}.collect`, keys(collectShape)],
    ...environmentTables(`${at}.environment`),
  ];
  const expected = new Map<string, readonly string[]>([
    ['', keys(taskShape, 'version')],
    ['task', keys(packageShape)],
    ['task.authors', keys(authorShape)],
    ['metadata', ['category', 'e2e_swe_workbench', 'programming_language']],
    ['metadata.e2e_swe_workbench', ['setup', 'test']],
    ['agent', keys(agentShape)],
    ['solution', keys(solutionShape)],
    ['artifacts', keys(artifactShape)],
    ['steps', keys(stepShape)],
    ['steps.agent', keys(agentShape)],
    ['steps.healthcheck', keys(healthcheckShape)],
    ['steps.artifacts', keys(artifactShape)],
    ...environmentTables('environment'),
    ...verifierTables('verifier', 'test_case_count'),
    ...verifierTables('steps.verifier'),
  ]);
  expect(tables(keyDocs)).toEqual(expected);
});

it.each(every.map(({ doc, path }) => [path.join('.'), doc, path] as const))(
  'documents %s',
  (_, doc, path) => {
    expect(doc.about).toMatch(/^[A-Z`].*\.$/s);
    expect(doc.origin === 'harbor').toBe(doc.since !== undefined);
    expect(doc.since ?? '1.0').toMatch(/^1\.[0-4]$/);
    const { valid, problems, unknownKeys } = parseTaskToml(doc.example);
    expect({ valid, errors: problems.filter(({ severity }) => severity === 'error') }).toEqual({
      valid: true,
      errors: [],
    });
    expect(unknownKeys).toEqual(
      path.join('.') === 'verifier.test_case_count' ? ['verifier.test_case_count'] : [],
    );
    // The example shows the key itself.
    let value: unknown = parse(doc.example);
    for (const part of path) {
      value = Array.isArray(value) ? value.find((item) => typeof item === 'object') : value;
      value = (value as Record<string, unknown> | undefined)?.[part];
    }
    expect(value).toBeDefined();
    expect(findKeyDoc(path)).toBe(doc);
  },
);

describe('defaults', () => {
  const config = parseTaskToml('').config as unknown as Record<string, Record<string, unknown>>;
  const documented = every.filter(({ doc, path }) => path.length <= 2 && doc.default !== undefined);

  it.each(documented.map(({ doc, path }) => [path.join('.'), doc, path] as const))(
    'of %s',
    (_, doc, path) => {
      const [table, key] = path;
      if (table === 'task' || table === 'steps' || (table === 'artifacts' && key)) return;
      const value = key ? config[table ?? '']?.[key] : config[table ?? ''];
      expect(value).toEqual(JSON.parse(doc.default ?? 'null'));
    },
  );

  it('keys without one have none', () => {
    for (const table of ['environment', 'verifier', 'agent']) {
      for (const doc of keysOfTable([table]) ?? []) {
        const value = config[table]?.[doc.key];
        if (doc.default === undefined) expect([doc.key, value ?? null]).toEqual([doc.key, null]);
      }
    }
  });
});

test('array indices are passed over, free tables answer for their keys', () => {
  expect(findKeyDoc(['environment', 'mcp_servers', 1, 'url'])?.about).toContain('address');
  expect(findKeyDoc(['environment', 'env', 'LANG'])?.key).toBe('env');
  expect(findKeyDoc(['metadata', 'tags', 0])?.key).toBe('metadata');
  expect(findKeyDoc(['verifier', 'artifacts'])).toBeUndefined();
  expect(findKeyDoc(['environment', 'cpus', 'x'])).toBeUndefined();
  expect(keysOfTable(['steps', 0, 'verifier', 'collect', 2])?.map((doc) => doc.key)).toContain('command');
  expect(keysOfTable(['environment', 'env', 'LANG'])).toBeUndefined();
});

describe('media/task.schema.json', () => {
  /** Arrays of texts on one line, as the formatter writes them. */
  const formatted = (value: unknown): string => {
    const text = JSON.stringify(value, null, 2);
    return `${text.replace(/\[\s+("[^"[\]{}]*"(?:,\s+"[^"[\]{}]*")*)\s+\]/g, (_, items: string) => `[${items.replace(/,\s+/g, ', ')}]`)}\n`;
  };

  // To write it anew: npx vitest run --config test/vitest.config.ts --project core keyDocs -u
  it('is what the table says', async () => {
    await expect(formatted(taskJsonSchema(keyDocs))).toMatchFileSnapshot('../../../media/task.schema.json');
  });

  const schema = taskJsonSchema(keyDocs);
  const names = readdirSync(fixture('edge')).filter((name) => name.endsWith('.json'));
  const accepted = names.filter((name) => readJson<HarborAnswer>(fixture(`edge/${name}`)).ok);
  const generated = readJson<(HarborAnswer & { toml: string })[]>(fixture('harbor-edge.json'));

  it.each(accepted)('takes what Harbor takes: %s', (name) => {
    const text = readFileSync(fixture(`edge/${name.replace(/json$/, 'toml')}`), 'utf8');
    expect(faults(parse(text), schema)).toEqual([]);
  });

  it('takes every generated text that Harbor takes', () => {
    for (const { toml, ok } of generated) {
      if (ok) expect([toml, faults(readToml(toml).table, schema)]).toEqual([toml, []]);
    }
  });

  it('rejects what no Harbor reads', () => {
    expect(faults({ environment: { network_mode: 'none', cpus: [] }, task: {} }, schema)).toEqual([
      '/task: name is missing',
      '/environment/network_mode: not one of public, no-network, allowlist',
      '/environment/cpus: not integer, number, string, boolean',
    ]);
  });
});

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly minimum?: number;
}

/** As much of a JSON schema validator as our schema needs. */
function faults(value: unknown, schema: Schema, at = ''): string[] {
  if (schema.anyOf)
    return schema.anyOf.some((one) => faults(value, one).length === 0) ? [] : [`${at}: no match`];
  const out: string[] = [];
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOf(value, type))) return [`${at}: not ${types.join(', ')}`];
  if (schema.enum && !schema.enum.includes(value)) out.push(`${at}: not one of ${schema.enum.join(', ')}`);
  if (Array.isArray(value) && schema.items) {
    const { items } = schema;
    out.push(...value.flatMap((item, index) => faults(item, items, `${at}/${index}`)));
  }
  if (!isOf(value, 'object')) return out;
  const table = value as Record<string, unknown>;
  for (const name of schema.required ?? [])
    if (!(name in table)) out.push(`${at}/${name}`.replace(/\/([^/]*)$/, ': $1 is missing'));
  const more = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const known = schema.properties ?? {};
  const order = [...Object.keys(known), ...Object.keys(table).filter((name) => !Object.hasOwn(known, name))];
  for (const name of order) {
    const inner = Object.hasOwn(known, name) ? known[name] : more;
    if (Object.hasOwn(table, name) && inner) out.push(...faults(table[name], inner, `${at}/${name}`));
  }
  return out;
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    default:
      return typeof value === type;
  }
}
