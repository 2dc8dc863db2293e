import { describe, expect, test } from 'vitest';
import { ExplorerError } from '../../../src/explorer/error.ts';
import { createPageReader, describeBody } from '../../../src/explorer/response.ts';

const html = '<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head></html>';
const challenge = '\uFEFF\n <html><title>Just a moment...</title></html>';
/** The offer of payment for a request without a key, which fills several KB. */
const offer = (order: readonly string[]) =>
  JSON.stringify(
    {
      error: 'Proceed with API key or make a X402 payment to continue',
      accepts: Array.from({ length: 40 }, () => ({
        description: 'Blockscout API call '.repeat(20),
      })),
    },
    [...order, 'description'],
  );
const plain = (text: string): string => text;

const read = createPageReader([], plain);

/** The class of an answer; 'ok' for a page. */
function classOf(status: number, body: Buffer) {
  const answer = { origin: 'https://a.example', status, headers: {}, body, bytes: body.length };
  const result = read(answer);
  return result instanceof ExplorerError ? result.failure : 'ok';
}

test.each([
  ['nests too deep', `{"errors":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
  ['has too many values', `{"errors":[${'0,'.repeat(500_000)}0]}`],
])('an error body that %s is described by its beginning', (_what, text) => {
  expect(classOf(503, Buffer.from(text))).toBe('unreachable');
  expect(describeBody(Buffer.from(text), plain)).toMatch(/^\{"errors":/u);
});

test.each([
  [200, '{"items":[],"next_page_params":null}', 'ok'],
  [200, ' \n{"items":[{"error":"x"}],"next_page_params":null}\n', 'ok'],
  [200, '\uFEFF{"items":[],"next_page_params":{}}', 'ok'],
  [200, '{"items":[]}', 'envelope-invalid'],
  [200, '{"items":{},"next_page_params":null}', 'envelope-invalid'],
  [200, `{"items":[${'0,'.repeat(500)}0],"next_page_params":null}`, 'envelope-invalid'],
  [200, '{"status":"ok"}', 'envelope-invalid'],
  [200, '{}', 'envelope-invalid'],
  [200, `{"error":"${'x'.repeat(5000)}"}`, 'envelope-invalid'],
  [200, `{"items":["${'x'.repeat(5000)}"],"next_page_params":null}\n`, 'ok'],
  [200, '{"error":"items"}', 'envelope-invalid'],
  [200, '{"errors":[{"title":"Invalid value"}]}', 'envelope-invalid'],
  [200, '{"message":"Something went wrong"}', 'envelope-invalid'],
  [200, html, 'intercepted'],
  [200, html + 'x'.repeat(5000), 'intercepted'],
  [200, challenge, 'intercepted'],
  [200, 'Please log in', 'intercepted'],
  [200, `{"items":["${'x'.repeat(5000)}`, 'envelope-invalid'],
  [200, '', 'envelope-invalid'],
  [200, '[]', 'envelope-invalid'],
  [204, '', 'envelope-invalid'],
  [302, '', 'unreachable'],
  [400, '{"message":"Unknown API v2 action"}', 'unsupported'],
  [400, '{"code":3,"message":"invalid format of page_token"}', 'cursor-refused'],
  [400, '{"message":"Bad request"}', 'not-found'],
  [400, html, 'intercepted'],
  [401, '{"error":"Unauthorized"}', 'unauthorized'],
  [402, '{"error":"Out of credits"}', 'out-of-credits'],
  [402, '{"error":"Proceed with API key or make a X402 payment to continue"}', 'key-missing'],
  [401, html, 'intercepted'],
  [402, html, 'intercepted'],
  [402, '', 'out-of-credits'],
  [403, html, 'intercepted'],
  [403, challenge, 'intercepted'],
  [403, 'error code: 1020', 'intercepted'],
  [403, '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', 'intercepted'],
  [403, '{"error":"Forbidden"}', 'forbidden'],
  [403, '', 'forbidden'],
  [403, '{"error":"Invalid API key"}', 'unauthorized'],
  [404, '{"error":"Network not supported","source":"internal"}', 'unknown-chain'],
  [404, '{"message":"Not found"}', 'not-found'],
  [404, '{"code":5,"message":"Not Found","details":[]}', 'not-found'],
  [404, 'default backend - 404', 'not-found'],
  [404, html, 'not-found'],
  [404, '', 'not-found'],
  [404, '{"message":"Service is disabled"}', 'unsupported'],
  [405, '{"message":"Method not allowed"}', 'forbidden'],
  [405, html, 'intercepted'],
  [407, '', 'intercepted'],
  [407, html, 'intercepted'],
  [408, '', 'unreachable'],
  [410, '{"message":"Gone"}', 'not-found'],
  [422, '{"errors":[{"title":"Invalid value"}]}', 'rejected'],
  [429, '{"message":"Too many requests. Slow down."}', 'throttled'],
  [429, html, 'throttled'],
  [500, '{"error":"Internal server error","source":"upstream"}', 'unreachable'],
  [501, '{"error":"Not implemented","source":"upstream"}', 'unsupported'],
  [501, '{"message":"Service is disabled"}', 'unsupported'],
  [502, html, 'unreachable'],
  [503, '', 'unreachable'],
  [504, '{"error":"timeout","source":"internal"}', 'unreachable'],
])('HTTP %i %s is %s', (status, body, expected) => {
  expect(classOf(status, Buffer.from(body))).toBe(expected);
});

test.each([
  ['before', ['error', 'accepts']],
  ['after', ['accepts', 'error']],
])('a 402 is read for its message %s an offer of payment of many KB', (_where, order) => {
  const body = Buffer.from(offer(order));
  expect(body.length).toBeGreaterThan(10_000);
  expect(classOf(402, body)).toBe('key-missing');
  expect(describeBody(body, plain)).toBe('Proceed with API key or make a X402 payment to continue');
});

describe('a description of an answer', () => {
  test.each([
    ['{"error":"Out of credits"}', 'Out of credits'],
    ['{"message":null,"error":"x"}', 'x'],
    ['{"code":3,"message":"invalid\\nformat"}', '3: invalid format'],
    [
      '{"errors":[{"title":"Invalid value","source":{"pointer":"/page_size"},"detail":"too large"},"odd"]}',
      'Invalid value /page_size: too large; "odd"',
    ],
    [html, 'something in front of the explorer answers: 502 Bad Gateway'],
    [challenge, 'something in front of the explorer answers: Just a moment...'],
    ['error\tcode: 1020', 'something in front of the explorer answers: error code: 1020'],
    ['{"items":[', '{"items":['],
    ['', 'an empty body'],
  ])('%s reads %s', (body, expected) => {
    expect(describeBody(Buffer.from(body), plain)).toBe(expected);
  });

  test('is at most 200 characters of one line, whatever the body holds', () => {
    const said = describeBody(
      Buffer.from(JSON.stringify({ error: '\n\u0007\u202E'.repeat(900) })),
      plain,
    );
    expect(said.length).toBeLessThanOrEqual(200);
    expect(said).toMatch(/^[ -~…]+$/u);
  });
});
