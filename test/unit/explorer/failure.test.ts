import { describe as group, expect, test } from 'vitest';
import { classify, describe } from '../../../src/explorer/response.ts';

const html = '<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head></html>';
const plain = (text: string): string => text;

test.each([
  [200, '{"items":[],"next_page_params":null}', 'ok'],
  [200, ' \n{"items":[{"error":"x"}],"next_page_params":null}\n', 'ok'],
  [200, '\uFEFF{"items":[]}', 'ok'],
  [200, `{"items":["${'x'.repeat(5000)}"],"next_page_params":null}\n`, 'ok'],
  [200, '{"error":"items"}', 'envelope-invalid'],
  [200, '{"errors":[{"title":"Invalid value"}]}', 'envelope-invalid'],
  [200, '{"message":"Something went wrong"}', 'envelope-invalid'],
  [200, html, 'envelope-invalid'],
  [200, html + 'x'.repeat(5000), 'envelope-invalid'],
  [200, `{"items":["${'x'.repeat(5000)}`, 'envelope-invalid'],
  [200, '', 'envelope-invalid'],
  [200, '[]', 'envelope-invalid'],
  [204, '', 'envelope-invalid'],
  [302, '', 'unreachable'],
  [400, '{"message":"Unknown API v2 action"}', 'unsupported'],
  [400, '{"code":3,"message":"invalid format of page_token"}', 'cursor-refused'],
  [400, '{"message":"Bad request"}', 'rejected'],
  [401, '{"error":"Unauthorized"}', 'unauthorized'],
  [402, '{"error":"Out of credits"}', 'out-of-credits'],
  [402, '{"error":"Proceed with API key or make a X402 payment to continue"}', 'key-missing'],
  [402, '', 'out-of-credits'],
  [403, html, 'unauthorized'],
  [404, '{"error":"Network not supported","source":"internal"}', 'unknown-chain'],
  [404, '{"message":"Not found"}', 'rejected'],
  [408, '', 'unreachable'],
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
  expect(classify(status, Buffer.from(body))).toBe(expected);
});

group('a description of an answer', () => {
  test.each([
    ['{"error":"Out of credits"}', 'Out of credits'],
    ['{"message":null,"error":"x"}', 'x'],
    ['{"code":3,"message":"invalid\\nformat"}', '3: invalid format'],
    [
      '{"errors":[{"title":"Invalid value","source":{"pointer":"/page_size"},"detail":"too large"},"odd"]}',
      'Invalid value /page_size: too large; "odd"',
    ],
    [html, 'an HTML page: 502 Bad Gateway'],
    ['', 'an empty body'],
    ['plain\ttext', 'plain text'],
  ])('%s reads %s', (body, expected) => {
    expect(describe(Buffer.from(body), plain)).toBe(expected);
  });

  test('is at most 200 characters of one line, whatever the body holds', () => {
    const said = describe(
      Buffer.from(JSON.stringify({ error: '\n\u0007\u202E'.repeat(900) })),
      plain,
    );
    expect(said.length).toBeLessThanOrEqual(200);
    expect(said).toMatch(/^[ -~…]+$/u);
  });
});
