import { expect, test } from 'vitest';
import { loadSettings } from '../../../src/config/load.ts';
import { secretsOf } from '../../../src/config/secrets.ts';
import { createRedactor } from '../../../src/redact.ts';
import { complaints, folder } from './folder.ts';

const load = (file: string, env: NodeJS.ProcessEnv = {}) =>
  loadSettings({
    env,
    cwd: folder({ 'explorer-etl.yaml': file, hook: 'http://127.0.0.1:9/canary\n' }),
    need: 'database',
  });

test('the webhook is that of the environment, then that of the file, then none', () => {
  const file = 'notify: { url: https://hooks.example/file }';
  expect(load('notify:').notifyUrl).toBeNull();
  expect(load(file).notifyUrl).toBe('https://hooks.example/file');
  expect(load(file, { EXPLORER_ETL_NOTIFY_URL_FILE: 'hook' }).notifyUrl).toBe(
    'http://127.0.0.1:9/canary',
  );
});

test.each([
  ['hooks.example/canary', 'not a URL: it should read https://host/path'],
  ['ftp://hooks.example/canary', 'not an http or https URL'],
  [
    'https://canary:canary@hooks.example/',
    'must hold no user name or password; a secret stands in its path or query',
  ],
  ['https://hooks.example/#canary', 'must hold no fragment: what follows # is never sent'],
])('%s is refused without being repeated', (url, problem) => {
  expect(complaints(() => load('', { EXPLORER_ETL_NOTIFY_URL: url }))).toEqual([
    `EXPLORER_ETL_NOTIFY_URL: ${problem}`,
  ]);
  expect(complaints(() => load(`notify: { url: "${url}" }`))).toEqual([
    `explorer-etl.yaml:1: notify.url: ${problem}`,
  ]);
});

test('of the webhook only scheme and host are told', () => {
  const url = 'https://hooks.example/services/T00/abcdefghijklmnop?token=qrstuvwxyz0123';
  const redact = createRedactor(secretsOf(load(`notify: { url: "${url}" }`)));
  expect(redact(`${url} and qrstuvwxyz0123 at /services`)).toBe('*** and *** at /services');
  expect(redact('GET /services/T00/abcdefghijklmnop')).toBe('GET /services/T00/***');
  expect(redact('https://hooks.example: status 500')).toBe('https://hooks.example: status 500');
});
