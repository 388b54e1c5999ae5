import { expect, test } from 'vitest';
import { CancelledError } from '#core/base/errors.ts';
import { engineError, statusCode } from '#core/container/dockerErrors.ts';
import { EngineError, type EngineFailure } from '#core/container/engine.ts';

const failed = (message: string, part: object = {}): Error => Object.assign(new Error(message), part);

test.each<[error: Error, fallback: EngineFailure, failure: EngineFailure, says: string]>([
  [
    failed('connect ENOENT /x', { code: 'ENOENT' }),
    'other',
    'unreachable',
    'The engine does not answer (ENOENT) while x.',
  ],
  [failed('connect ECONNREFUSED', { code: 'ECONNREFUSED' }), 'exec-failed', 'unreachable', 'ECONNREFUSED'],
  [failed('connect EACCES', { code: 'EACCES' }), 'other', 'unreachable', 'EACCES'],
  [failed('read ECONNRESET', { code: 'ECONNRESET' }), 'other', 'lost', 'went away while x'],
  [failed('write EPIPE', { code: 'EPIPE' }), 'other', 'lost', 'went away'],
  [failed('socket hang up'), 'other', 'lost', 'went away'],
  [failed('Premature close', { code: 'ERR_STREAM_PREMATURE_CLOSE' }), 'other', 'lost', 'went away'],
  [
    failed('(HTTP code 500) server error - write /x: no space left on device', { statusCode: 500 }),
    'refused',
    'disk-full',
    'disk is full (x)',
  ],
  [
    failed('(HTTP code 404) no such container - No such container: a', { statusCode: 404 }),
    'other',
    'not-found',
    'No such container: a',
  ],
  [
    failed('(HTTP code 404) no such container - No such image: a', { statusCode: 404 }),
    'image-missing',
    'image-missing',
    'No such image: a',
  ],
  [
    failed('(HTTP code 400) unexpected - exec: "x": not found \n', { statusCode: 400 }),
    'start-failed',
    'start-failed',
    'exec: "x": not found',
  ],
  [failed('anything'), 'refused', 'refused', 'anything'],
])('%s (else %s) is %s', (error, fallback, failure, says) => {
  const made = engineError(error, 'x', fallback) as EngineError;
  expect(made).toBeInstanceOf(EngineError);
  expect(made.failure).toBe(failure);
  expect(made.message).toContain(says);
  expect(made.message).not.toContain('HTTP code');
  expect(made.cause).toBe(error);
});

test('a cancellation stays one, whatever the engine said', () => {
  expect(engineError(failed('socket hang up'), 'x', 'lost', AbortSignal.abort())).toBeInstanceOf(
    CancelledError,
  );
  expect(engineError(failed('a', { name: 'AbortError' }), 'x')).toBeInstanceOf(CancelledError);
  const ours = new EngineError('disk-full', 'ours');
  expect(engineError(ours, 'x')).toBe(ours);
});

test('only a number is a status', () => {
  expect([
    statusCode({ statusCode: 404 }),
    statusCode({ statusCode: '404' }),
    statusCode(null),
    statusCode('x'),
  ]).toEqual([404, undefined, undefined, undefined]);
});
