import type { KeyDoc } from './keyDocs-tables.ts';

/**
 * The JSON schema (draft-07) of task.toml for editors of TOML, from the same table as our hovers. It is as lenient as
 * Harbor: unknown keys pass, and so do the texts and booleans that Harbor reads as numbers. What is wrong beyond that
 * our own diagnostics say.
 */

type Schema = Readonly<Record<string, unknown>>;

export function taskJsonSchema(docs: readonly KeyDoc[]): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Harbor task (task.toml)',
    ...table(docs),
  };
}

function table(docs: readonly KeyDoc[] = []): Schema {
  const required = docs.filter((doc) => doc.required).map((doc) => doc.key);
  return {
    type: 'object',
    ...(docs.length > 0 && { properties: Object.fromEntries(docs.map((doc) => [doc.key, ofKey(doc)])) }),
    ...(required.length > 0 && { required }),
    additionalProperties: true,
  };
}

function ofKey(doc: KeyDoc): Schema {
  return {
    description: description(doc),
    ...ofType(doc),
    ...(doc.default !== undefined && { default: JSON.parse(doc.default) }),
    ...(doc.deprecatedBy !== undefined && { deprecated: true }),
  };
}

function description(doc: KeyDoc): string {
  const notes = [
    doc.deprecatedBy && `Deprecated: write ${doc.deprecatedBy}.`,
    doc.about,
    doc.unit && `Unit: ${doc.unit}.`,
    doc.since ? `Since schema ${doc.since}.` : 'A convention of E2E-SWE that Harbor does not read.',
  ];
  return notes.filter(Boolean).join(' ');
}

function ofType(doc: KeyDoc): Schema {
  switch (doc.type) {
    case 'string':
      return ofText(doc);
    case 'integer':
      // Only Harbor reads numbers from texts and booleans.
      return doc.origin === 'harbor'
        ? { type: ['integer', 'number', 'string', 'boolean'] }
        : { minimum: 1, type: 'integer' };
    case 'number':
      return { type: ['number', 'string', 'boolean'] };
    case 'boolean':
      return { type: ['boolean', 'string', 'number'] };
    case 'string or integer':
      return { type: ['string', 'integer', 'number', 'boolean'] };
    case 'strings':
      return { type: 'array', items: { type: 'string' } };
    case 'tables':
      return { type: 'array', items: table(doc.inner) };
    case 'artifacts':
      return { type: 'array', items: { anyOf: [{ type: 'string' }, table(doc.inner)] } };
    case 'text table':
      return { type: 'object', additionalProperties: { type: 'string' } };
    case 'number or table':
      return { type: ['number', 'string', 'boolean', 'object'] };
    default:
      return table(doc.inner);
  }
}

function ofText(doc: KeyDoc): Schema {
  const values = [...(doc.values ?? [])];
  // Two are read in more spellings than the listed ones.
  if (doc.key === 'os') return { anyOf: [{ enum: values }, { type: 'string' }] };
  if (doc.key === 'transport') values.push('http');
  if (doc.values) return { type: 'string', enum: values };
  // Harbor drops an old size that is not text, and an old version beside a new one: no errors.
  return doc.deprecatedBy ? {} : { type: 'string' };
}
