import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/environment.ts';
import { exposureOf, isLoopback, parseAddress } from '../../../src/config/schema.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { secretsOf } from '../../../src/config/settings.ts';
import { addressText } from '../../../src/http/access.ts';

test.each([
  ['127.0.0.1:4400', '127.0.0.1:4400', true],
  ['4500', '127.0.0.1:4500', true],
  ['0', '127.0.0.1:0', true],
  ['[::1]:4400', '[::1]:4400', true],
  ['localhost:80', 'localhost:80', true],
  ['0.0.0.0:9464', '0.0.0.0:9464', false],
  ['[::]:9464', '[::]:9464', false],
  ['192.168.1.5:80', '192.168.1.5:80', false],
])('%s is an address', (written, formatted, isOwn) => {
  const address = parseAddress(written);
  if (address === null) throw new Error('no address');
  expect([addressText(address), isLoopback(address)]).toEqual([formatted, isOwn]);
});

test.each([
  '',
  'localhost',
  '127.0.0.1:',
  ':4400',
  '127.0.0.1:65536',
  '-1',
  'http://a:1',
  'a b:1',
  '::1:4400',
])('%j is not an address', (written) => expect(parseAddress(written)).toBe(null));

const load = (token: string) =>
  loadSettings({ env: { EXPLORER_ETL_HTTP_TOKEN: token }, cwd: '/nowhere', need: 'database' });

test('a token is a secret, and a short one is refused without being printed', () => {
  const settings = load('sixteen-chars-ok');
  expect(settings.http.token).toBe('sixteen-chars-ok');
  expect(secretsOf(settings)).toContain('sixteen-chars-ok');
  expect(() => load('short-token')).toThrow(ConfigError);
  expect(() => load('short-token')).toThrow(/shorter than 16 characters/);
  expect(() => load('short-token')).not.toThrow(/short-token/);
});

test.each([
  ['https://api.blockscout.com', false],
  ['http://127.0.0.1:4000', false],
  ['http://127.8.0.1', false],
  ['http://localhost/path', false],
  ['http://[::1]:80', false],
  ['http://0.0.0.0:80', true],
  ['http://10.0.0.1', true],
  ['HTTP://API.example', true],
  ['http://localhost.example', true],
  ['http://127.0.0.1.example', true],
  ['http://[::ffff:127.0.0.1]', true],
])('a key sent to %s can be read by others: %s', (url, isExposed) => {
  expect(exposureOf(url) !== null).toBe(isExposed);
});
