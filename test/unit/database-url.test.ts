import { expect, test } from 'vitest';
import { forLibpq } from '../../src/cli/db.ts';
import { withName, withSettings } from '../../src/db/pool.ts';

test.each([
  [
    'postgres://u:p@h:5433/d',
    'postgres://u:p@h:5433/d?options=-c+jit%3Doff+-c+search_path%3Dpg_catalog%2Cpg_temp',
  ],
  [
    'postgres://u:p@h/d?options=-c%20a%3D1&sslmode=require',
    'postgres://u:p@h/d?options=-c+jit%3Doff+-c+a%3D1+-c+search_path%3Dpg_catalog%2Cpg_temp&sslmode=require',
  ],
  [
    'postgres://u:p@/d?host=/run/pg',
    'postgres://u:p@nowhere.invalid/d?host=%2Frun%2Fpg&options=-c+jit%3Doff+-c+search_path%3Dpg_catalog%2Cpg_temp',
  ],
])('settings of the server are added to %s', (url, wanted) => {
  expect(withSettings(url, { jit: 'off' })).toBe(wanted);
});

test('the sessions of a URL have a name, even if it names a socket', () => {
  expect(withName('postgres://u:p@/d?host=/run/pg', 'a worker')).toBe(
    'postgres://u:p@nowhere.invalid/d?host=%2Frun%2Fpg&application_name=a+worker',
  );
});

test.each([
  ['postgres://a@b/c', 'postgres://a@b/c'],
  ['postgres://a@b/c?sslmode=no-verify', 'postgres://a@b/c?sslmode=require'],
  ['postgres://a@b/c?uselibpqcompat=true&sslmode=require', 'postgres://a@b/c?sslmode=require'],
  ['postgres://a@b/c?ssl=true', 'postgres://a@b/c?sslmode=require'],
  ['postgres://a@b/c?ssl=true&sslmode=verify-full', 'postgres://a@b/c?sslmode=verify-full'],
  ['postgres://a@b/c?application_name=mine', 'postgres://a@b/c?application_name=mine'],
])('psql is given %s as %s', (url, given) => {
  expect(forLibpq(url)).toBe(given);
});
