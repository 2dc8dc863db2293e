import { test } from 'vitest';

test('a cluster of three servers', ({ skip }) => {
  skip('Citus is not installed: PG_BIN, the PATH and Debian name no Postgres with it');
});
