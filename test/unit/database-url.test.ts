import { expect, test } from 'vitest';
import { forLibpq } from '../../src/cli/db.ts';
import { passwordsOf } from '../../src/config/settings.ts';
import { withName, urlWithSettings } from '../../src/db/pool.ts';
import { tlsRemedy } from '../../src/db/url.ts';

test.each([
  ['postgres://u:p@h:5433/d', 'h:5433', '-c jit=off '],
  ['postgres://u:p@h/d?options=-c%20a%3D1&sslmode=require', 'h', '-c jit=off -c a=1 '],
  ['postgres://u:p@/d?host=/run/pg', 'nowhere.invalid', '-c jit=off '],
])('settings of the server are added around those of %s', (url, host, options) => {
  const added = new URL(urlWithSettings(url, { jit: 'off' }));
  expect(added.host).toBe(host);
  expect(added.searchParams.get('options')).toBe(
    `${options}-c search_path=pg_catalog,pg_temp -c default_transaction_isolation=read\\ committed -c standard_conforming_strings=on -c DateStyle=ISO,\\ MDY -c extra_float_digits=1 -c quote_all_identifiers=off -c row_security=on`,
  );
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

test.each([
  [
    '28000 error: no pg_hba.conf entry for host "h", user "u", database "d", no encryption',
    'require',
  ],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'sslrootcert='],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'sslrootcert='],
  ['CERT_HAS_EXPIRED', 'renew it'],
])('a connection that fails with %s names a remedy', (failure, remedy) => {
  expect(tlsRemedy(failure)).toContain(remedy);
});

test('a connection that fails for another reason names no remedy for TLS', () => {
  expect(tlsRemedy('ECONNREFUSED Error: connect ECONNREFUSED 127.0.0.1:5432')).toBe('');
});

test.each([
  ['postgres://u:sw%2Fordfish@h/d', ['sw%2Fordfish', 'sw/ordfish']],
  ['postgres://u@h/d?password=sw%2Fordfish', ['sw/ordfish']],
  ['postgres://u@h/d?password=swordfish&password=catfishes', ['catfishes']],
  ['postgres://u@h/d', []],
])('the passwords of %s are masked', (url, passwords) => {
  expect(passwordsOf(url)).toEqual(passwords);
});
