import { z } from 'zod';
import { parseFloatText, parseIntText } from './python.ts';

/**
 * zod leaves and models with the leniency, the messages and the error types of pydantic's lax mode, as measured
 * with pydantic 2.13.4 (harbor.md §2, "General behaviour"). `undefined` means that the key is absent.
 */

/** Why a value was rejected, as pydantic says it. `loc` is the tail that pydantic adds below the value itself. */
export interface Rejection {
  readonly type: string;
  readonly msg: string;
  readonly loc?: readonly (string | number)[];
  /** Where in the document the value is, where `loc` does not lead there. */
  readonly at?: readonly (string | number)[];
}

/** What a leaf and a model are to the rest: anything in, `T` out. */
export type Lax<T> = z.ZodType<T, unknown>;

type Context = z.core.$RefinementCtx<unknown>;

/** Reports a rejection; `return reject(…)` ends a transform. */
export function reject(context: Context, rejection: Rejection): typeof z.NEVER {
  context.issues.push({
    code: 'custom',
    message: rejection.msg,
    input: undefined,
    params: { type: rejection.type, at: rejection.at },
    path: [...(rejection.loc ?? [])],
  });
  return z.NEVER;
}

/** pydantic's wrapping of a `ValueError`. */
export function valueError(message: string): Rejection {
  return { type: 'value_error', msg: `Value error, ${message}` };
}

function leaf<T>(read: (value: unknown) => { readonly value: T } | Rejection): Lax<T> {
  return z.unknown().transform((input, context): T => {
    const result = read(input);
    return 'value' in result ? result.value : reject(context, result);
  });
}

/** A table of the document (dates and arrays are none). */
export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

const wrongString: Rejection = { type: 'string_type', msg: 'Input should be a valid string' };

export const str: Lax<string> = leaf((v) => (typeof v === 'string' ? { value: v } : wrongString));

/** `str` with `min_length=1`. */
export const nonEmpty: Lax<string> = leaf((v) => {
  if (typeof v !== 'string') return wrongString;
  if (v !== '') return { value: v };
  return { type: 'string_too_short', msg: 'String should have at least 1 character' };
});

function readInt(v: unknown): { readonly value: number } | Rejection {
  if (typeof v === 'boolean' || typeof v === 'bigint') return { value: Number(v) };
  if (typeof v === 'string') {
    const value = parseIntText(v);
    if (value !== undefined) return { value };
    return {
      type: 'int_parsing',
      msg: 'Input should be a valid integer, unable to parse string as an integer',
    };
  }
  if (typeof v !== 'number') return { type: 'int_type', msg: 'Input should be a valid integer' };
  if (!Number.isFinite(v)) return { type: 'finite_number', msg: 'Input should be a finite number' };
  if (!Number.isInteger(v)) {
    return {
      type: 'int_from_float',
      msg: 'Input should be a valid integer, got a number with a fractional part',
    };
  }
  if (v < 2 ** 63 && v >= -(2 ** 63)) return { value: v === 0 ? 0 : v };
  return {
    type: 'int_parsing_size',
    msg: 'Unable to parse input string as an integer, exceeded maximum size',
  };
}

function readFloat(v: unknown): { readonly value: number } | Rejection {
  if (typeof v === 'number') return { value: v };
  if (typeof v === 'boolean' || typeof v === 'bigint') return { value: Number(v) };
  if (typeof v !== 'string') return { type: 'float_type', msg: 'Input should be a valid number' };
  const value = parseFloatText(v);
  if (value !== undefined) return { value };
  return {
    type: 'float_parsing',
    msg: 'Input should be a valid number, unable to parse string as a number',
  };
}

export const int: Lax<number> = leaf(readInt);
export const float: Lax<number> = leaf(readFloat);

const TRUE = ['1', 'on', 't', 'true', 'y', 'yes'];
const FALSE = ['0', 'off', 'f', 'false', 'n', 'no'];

export const bool: Lax<boolean> = leaf((v) => {
  if (typeof v === 'boolean') return { value: v };
  const text = typeof v === 'string' ? v.toLowerCase() : isSmallInteger(v) ? String(v) : undefined;
  if (text === undefined) return { type: 'bool_type', msg: 'Input should be a valid boolean' };
  if (TRUE.includes(text)) return { value: true };
  if (FALSE.includes(text)) return { value: false };
  return {
    type: 'bool_parsing',
    msg: 'Input should be a valid boolean, unable to interpret input',
  };
});

function isSmallInteger(v: unknown): boolean {
  if (typeof v === 'bigint') return v < 2n ** 63n && v >= -(2n ** 63n);
  return typeof v === 'number' && Number.isInteger(v) && Math.abs(v) < 2 ** 63;
}

/** `str | int`, used for users: text stays text. */
export const strOrInt: Lax<string | number> = z.unknown().transform((v, context): string | number => {
  if (typeof v === 'string') return v;
  const number = int.safeParse(v);
  if (number.success) return number.data;
  reject(context, { ...wrongString, loc: ['str'] });
  return run(int, v, context, ['int']);
});

/** One of the given texts; `kind` is pydantic's error type. */
export function oneOf<const T extends string>(
  values: readonly T[],
  options: { readonly kind?: 'enum' | 'literal_error'; readonly before?: (value: unknown) => unknown } = {},
): Lax<T> {
  const quoted = values.map((value) => `'${value}'`);
  const list = `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1]}`;
  return leaf((input) => {
    const v = options.before === undefined ? input : options.before(input);
    const found = values.find((value) => value === v);
    return found === undefined
      ? { type: options.kind ?? 'enum', msg: `Input should be ${list}` }
      : { value: found };
  });
}

export function list<T>(item: Lax<T>): Lax<T[]> {
  return leaf<readonly unknown[]>((v) =>
    Array.isArray(v) ? { value: v } : { type: 'list_type', msg: 'Input should be a valid list' },
  ).pipe(z.array(item)) as Lax<T[]>;
}

/** A free table, every value read by `item`; `__proto__` is a key like any other. */
export function dict<T>(item: Lax<T>): Lax<Record<string, T>> {
  return z.unknown().transform((v, context): Record<string, T> => {
    if (!isTable(v)) return reject(context, { type: 'dict_type', msg: 'Input should be a valid dictionary' });
    const out: Record<string, T> = {};
    for (const [key, value] of Object.entries(v)) setOwn(out, key, run(item, value, context, [key]));
    return out;
  });
}

/** `object[key] = value` that is safe for the key `__proto__`. */
export function setOwn(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Reads a nested value; its rejections go to `context` under `loc`. */
export function run<T>(schema: Lax<T>, value: unknown, context: Context, loc: readonly string[] = []): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const params = issue.code === 'custom' ? issue.params : {};
    const path = [...loc, ...issue.path];
    context.issues.push({ code: 'custom', message: issue.message, input: undefined, params, path });
  }
  return z.NEVER;
}

/** The key may be absent and is then `fallback()`; pydantic does not validate defaults. */
export function optional<T, D>(schema: Lax<T>, fallback: () => D): Lax<T | D> {
  return z
    .unknown()
    .transform((v, context): T | D => (v === undefined ? fallback() : run(schema, v, context)));
}

/** The key may be absent and is then `null`. */
export function nullable<T>(schema: Lax<T>): Lax<T | null> {
  return optional(schema, () => null);
}

/** The key must be there. */
export function required<T>(schema: Lax<T>): Lax<T> {
  return z.unknown().transform((v, context): T => {
    if (v === undefined) return reject(context, { type: 'missing', msg: 'Field required' });
    return run(schema, v, context);
  });
}

/** One pydantic model: `before` sees the raw table, `after` the read one; unknown keys are dropped. */
export function model<S extends Record<string, Lax<unknown>>>(
  name: string,
  shape: S,
  hooks: {
    /** Returns the table to read, or why it is rejected as a whole. */
    readonly before?: (
      table: Readonly<Record<string, unknown>>,
    ) => { readonly table: Readonly<Record<string, unknown>> } | Rejection;
    /** Runs only where every field was accepted. */
    readonly after?: (value: { [K in keyof S]: z.output<S[K]> }) => Rejection | undefined;
  } = {},
): Lax<{ [K in keyof S]: z.output<S[K]> }> {
  const keys = Object.keys(shape);
  const object = z.object(shape) as unknown as Lax<{ [K in keyof S]: z.output<S[K]> }>;
  return z.unknown().transform((input, context): { [K in keyof S]: z.output<S[K]> } => {
    if (!isTable(input)) {
      const msg = `Input should be a valid dictionary or instance of ${name}`;
      return reject(context, { type: 'model_type', msg });
    }
    const before = hooks.before?.(input) ?? { table: input };
    if (!('table' in before)) return reject(context, before);
    const { table } = before;
    // Every key is present for zod, an absent one as undefined.
    const picked = Object.fromEntries(
      keys.map((key) => [key, Object.hasOwn(table, key) ? table[key] : undefined]),
    );
    const value = run(object, picked, context);
    if (context.issues.length > 0) return z.NEVER;
    const rejection = hooks.after?.(value);
    return rejection === undefined ? value : reject(context, rejection);
  });
}
