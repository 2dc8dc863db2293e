import { expect, test } from 'vitest';
import { withName, withSettings } from '../../src/db/timeouts.ts';

test.each([
  ['postgres://u:p@h:5433/d', 'postgres://u:p@h:5433/d?options=-c+jit%3Doff'],
  [
    'postgres://u:p@h/d?options=-c%20a%3D1&sslmode=require',
    'postgres://u:p@h/d?options=-c+jit%3Doff+-c+a%3D1&sslmode=require',
  ],
  [
    'postgres://u:p@/d?host=/run/pg',
    'postgres://u:p@nowhere.invalid/d?host=%2Frun%2Fpg&options=-c+jit%3Doff',
  ],
])('settings of the server are added to %s', (url, wanted) => {
  expect(withSettings(url, { jit: 'off' })).toBe(wanted);
});

test('the sessions of a URL are named, also where it names a socket', () => {
  expect(withName('postgres://u:p@/d?host=/run/pg', 'a worker')).toBe(
    'postgres://u:p@nowhere.invalid/d?host=%2Frun%2Fpg&application_name=a+worker',
  );
});
