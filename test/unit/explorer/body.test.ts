import { expect, test } from 'vitest';
import { ExplorerError } from '../../../src/explorer/error.ts';
import { parseBody } from '../../../src/explorer/response.ts';

const parse = (text: string): unknown => parseBody(Buffer.from(text, 'utf8'));

function refusal(text: string, scrub?: (text: string) => string): ExplorerError {
  try {
    parseBody(Buffer.from(text), scrub);
  } catch (error) {
    if (error instanceof ExplorerError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

test('gives the JSON value, with or without a byte order mark', () => {
  expect(parse('{"items":[1,null,true,"é"]}')).toEqual({ items: [1, null, true, 'é'] });
  expect(parse('\uFEFF{"items":[]}')).toEqual({ items: [] });
});

test('removes NUL characters from strings and keys, at any depth', () => {
  expect(parse(String.raw`{"a\u0000b":[{"name":"x\u0000y\u0000"}]}`)).toEqual({
    ab: [{ name: 'xy' }],
  });
});

test('replaces lone surrogates in strings and keys, and leaves pairs alone', () => {
  expect(parse(String.raw`{"k\uD800":"a\udc00b","ok":"\ud83d\ude00"}`)).toEqual({
    'k\uFFFD': 'a\uFFFDb',
    ok: '😀',
  });
});

test('an escaped backslash before u0000 is text', () => {
  expect(parse(String.raw`{"a":"\\u0000"}`)).toEqual({ a: String.raw`\u0000` });
});

test.each([
  ['between fields', String.raw`{"items":[],\u0000"next_page_params":null}`],
  ['within a number', String.raw`{"items":[1\u00002],"next_page_params":null}`],
])('a NUL escape %s is no JSON', (_where, text) => {
  expect(refusal(text).detail).toBe(`the body is not JSON: ${text}`);
});

test('an escape of a surrogate with a capital U is no JSON', () => {
  const text = String.raw`{"items":["\ud800\UD800"],"next_page_params":null}`;
  expect(refusal(text).detail).toBe(`the body is not JSON: ${text}`);
});

test('of escapes next to each other only what Postgres refuses changes', () => {
  expect(
    parse(String.raw`["\\\u0000\n\u00e9\ud83d\u0041","\ud83d\ud83d\ude00\ude00\uDBFF\uDFFF"]`),
  ).toEqual(['\\\né\uFFFDA', '\uFFFD😀\uFFFD\u{10FFFF}']);
});

test.each([
  ['as sent', '{"__proto__":{"polluted":1},"a":"b"}'],
  ['through cleaning', String.raw`{"__proto__":{"polluted":1},"a":"b\u0000"}`],
])('a __proto__ key is ordinary data, %s', (_how, text) => {
  const value = parse(text) as object;
  expect(Object.keys(value)).toContain('__proto__');
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect('polluted' in value).toBe(false);
  expect({}).not.toHaveProperty('polluted');
});

test('text that is not JSON is an invalid envelope with a one-line excerpt', () => {
  const error = refusal(`<html>\n\t<b>\u001B[31m down</b>${'x'.repeat(500)}`);
  expect(error.failure).toBe('envelope-invalid');
  expect(error.detail).toMatch(/^the body is not JSON: <html> <b>\\u001b\[31m down/u);
  expect(error.detail.length).toBeLessThanOrEqual('the body is not JSON: '.length + 200);
  expect(error.cause).toBeUndefined();
});

const redact = (text: string): string => text.replaceAll('canary-secret', '***');

test('a secret at the edge of the excerpt is redacted whole', () => {
  for (let at = 180; at < 205; at += 1) {
    expect(refusal(`${'x'.repeat(at)}canary-secret tail`, redact).detail).not.toContain('canar');
  }
  expect(refusal('x?apikey=canary').detail).not.toContain('canary');
});

test('bytes that are not UTF-8 become replacement characters', () => {
  const bytes = Buffer.concat([
    Buffer.from('{"a":"'),
    Buffer.from([0xff, 0xed, 0xa0]),
    Buffer.from('"}'),
  ]);
  expect((parseBody(bytes) as { a: string }).a).toMatch(/^\uFFFD+$/u);
});

/** A page with a note of any JSON. */
const noted = (json: string) => `{"items":[{"note":${json}}],"next_page_params":null}`;
const nested = (levels: number) => `${'['.repeat(levels)}"\\u0000"${']'.repeat(levels)}`;

test.each([
  ['brackets beside one long number', noted(`[1e400${',[]'.repeat(50_000)}]`)],
  ['objects in an unknown field', noted(`[${'{"a":{}},'.repeat(25_000)}0]`)],
  ['short numbers with an exponent', noted(`[${'1.5e300,'.repeat(50_000)}0]`)],
  ['fields', noted(`{${'"a":1,'.repeat(50_000)}"b":1}`)],
  ['items', `{"items":[${'{},'.repeat(50_000)}{}],"next_page_params":null}`],
  ['values of a page that is cut', noted(`[${'0,'.repeat(50_001)}`)],
])('too many %s are refused before the parse', (_what, text) => {
  const { failure, detail } = refusal(text);
  expect({ failure, detail }).toEqual({
    failure: 'envelope-invalid',
    detail: 'the body has more than 30000 values',
  });
});

test.each([
  ['lists', noted(nested(1_022))],
  ['objects', noted(`${'{"a":'.repeat(1_022)}0${'}'.repeat(1_022)}`)],
  ['lists behind a text that ends with a backslash', noted(String.raw`["\\",${nested(1_021)}]`)],
  ['lists without an end', '['.repeat(100_000)],
])('too deeply nested %s are refused before the parse', (_what, text) => {
  expect(refusal(text).detail).toBe('the body nests deeper than 1024 levels');
});

test.each(['', '-', '0.', '1e'])(
  'a number that begins with %j has a limit of digits',
  (beginning) => {
    const digits = '1'.repeat(10_000);
    expect(parse(noted(beginning + digits))).toEqual({
      items: [{ note: beginning + digits }],
      next_page_params: null,
    });
    expect(refusal(noted(`${beginning}${digits}1`)).detail).toBe(
      'the body has a number of more than 10000 digits',
    );
  },
);

test('a page of as many values and levels as are allowed keeps its digits, is cleaned, and can be written', () => {
  const deep = noted(`[9007199254740993,${nested(1_020)},${'0,'.repeat(28_000)}0]`);
  expect(JSON.stringify(parse(deep))).toBe(deep.replace(String.raw`\u0000`, ''));
});

test('brackets and commas in a text are no values', () => {
  const text = JSON.stringify(`${'[{,'.repeat(50_000)}"${'[{,'.repeat(50_000)}\\`);
  expect(parse(noted(text))).toEqual({
    items: [{ note: JSON.parse(text) as unknown }],
    next_page_params: null,
  });
});
