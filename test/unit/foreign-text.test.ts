import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { describeBody, parseBody } from '../../src/explorer/response.ts';
import { printable } from '../../src/printable.ts';
import { createRedactor, withoutPasswords } from '../../src/redact.ts';
import { inLong } from '../harness/long-cases.ts';
import { hangMs } from '../harness/process.ts';

const redact = createRedactor(['canary-key-0123456789', 'aaaaaaaaaaaaaaaa']);

/**
 * Runs what must not take longer the more often a text repeats: ended as hanging, it throws. It takes some 50 ms, and
 * minutes where the time grows with the square of the length.
 */
const run = (work: () => unknown): unknown =>
  runInContext('work()', createContext({ work }), { timeout: hangMs / 4 });

/** Beginnings of what an expression for foreign text looks for, and of its parts. */
const beginnings = [
  '<title ',
  ' ',
  'a',
  '<',
  '://',
  'a://',
  '@',
  'password',
  'password=',
  'key=',
  '?apikey=',
  '%',
  '%63',
  '&',
  '&#0',
  '\\u00',
  'canary-key-',
  '[',
  '[1',
  ':1',
  '1e',
  '"',
  '\u001B[',
  '\u200E',
  ...inLong(
    '<title',
    '<title>',
    '\n',
    'b',
    'b ',
    '>',
    '://a:',
    'a:',
    'password ',
    "password='",
    'key',
    '%3fkey',
    '%25',
    '&#x0',
    '\\',
    'c',
    '[ ',
    '1',
    '1.',
    '{"',
  ),
];

/** Characters: what is read in steps by the square of it takes longer than it may. */
const length = 250_000;

test.each(beginnings)(
  'a text that repeats %j for a quarter of a megabyte is masked in one pass',
  (beginning) => {
    const text = beginning.repeat(length / beginning.length);
    const masked = run(() => printable(withoutPasswords(redact(text))));
    expect(masked).toBeTypeOf('string');
  },
);

test.each(beginnings)(
  'a body that repeats %j is described and refused in one pass',
  (beginning) => {
    const body = Buffer.from(`{${beginning.repeat(length / beginning.length)}`);
    run(() => {
      // Only the first 64 KB are described: read in steps by the square of them, each takes seconds.
      for (let times = 0; times < 25; times += 1) describeBody(body, (text) => text);
    });
    run(() => expect(() => parseBody(body)).toThrow(/^envelope-invalid \(HTTP 200\): the body /u));
  },
);

test('a password is masked up to the last @ of its word', () => {
  expect(
    withoutPasswords('a postgres://u:p@q:r@h/d, 1x://u:p@h,y://v:q@i ://u: and mail@host, x://h:1'),
  ).toBe('a postgres://u:***@h/d, 1x://u:***@i ://u: and mail@host, x://h:1');
});
