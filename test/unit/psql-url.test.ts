import { expect, test } from 'vitest';
import { forLibpq } from '../../src/cli/db.ts';

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
