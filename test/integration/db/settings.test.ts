import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { connectionConfig, createPool, openWorkPools, workTimeouts } from '../../../src/db/pool.ts';
import { simulated } from '../../harness/explorer.ts';
import { call } from '../../harness/process.ts';
import { copySeed, shortChain } from '../../harness/sync.ts';
import { faultsOf, ownedWith } from './hostile-role.ts';

/** What roles and databases may have for other programs and people, and breaks this one. */
const hostile = {
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  standard_conforming_strings: 'off',
  DateStyle: 'German, DMY',
  statement_timeout: '7777',
  lock_timeout: '7777',
  idle_in_transaction_session_timeout: '7777',
  idle_session_timeout: '7777',
  extra_float_digits: '-15',
  quote_all_identifiers: 'on',
  row_security: 'off',
};
const settings = Object.entries(hostile).map(([name, value]) => ({ name, value }));

const base = {
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  standard_conforming_strings: 'on',
  DateStyle: 'ISO, MDY',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  extra_float_digits: '1',
  quote_all_identifiers: 'off',
  row_security: 'on',
};
const working = {
  ...base,
  statement_timeout: '60000',
  idle_in_transaction_session_timeout: '2500',
};
const named = { max: 1, applicationName: 'test' };

test.each([
  ['of a command', base, (url: string) => createPool({ ...named, url })],
  ['behind a pooler', base, (url: string) => createPool({ ...named, url, isPooled: true })],
  [
    'for pages',
    working,
    (url: string) => openWorkPools({ url, isPooled: false }, workTimeouts, 8).pool,
  ],
  [
    'of the queue',
    working,
    // As pg-boss makes one: it listens to the errors of the pool.
    (url: string) =>
      new Pool(connectionConfig({ ...named, url, dbTimeouts: workTimeouts })).on('error', () => {}),
  ],
])('a session %s has the settings of the program, not of its role', async (_, wanted, open) => {
  const { owner } = await ownedWith(settings);
  const pool = open(owner.url);
  onTestFinished(() => pool.end());
  const { rows } = await pool.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [Object.keys(hostile)],
  );
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(wanted);
});

test('a role with other defaults migrates, syncs and verifies like others', async () => {
  const { url } = await simulated({ seed: copySeed, chains: [shortChain] });
  expect(await faultsOf(await ownedWith(settings), url)).toEqual([]);
});

test.each([
  ['session_replication_role', 'replica'],
  ['restrict_nonsystem_relation_kind', 'view'],
  ['transaction_timeout', '5000'],
])(
  '%s, which the program may not set everywhere, is refused with what helps',
  async (name, value) => {
    const { admin, owner } = await ownedWith([]);
    if ((await admin.query('select from pg_settings where name = $1', [name])).length === 0) return;
    const role = new URL(owner.url).username;
    await admin.query(`alter role ${role} set ${name} = '${value}'`);
    const migrate = () => call(['migrate', '--database-url', owner.url], {});
    const { code, stderr } = await migrate();
    expect(code).toBe(2);
    const remedy = /run "(alter role [^"]+)"/u.exec(stderr)?.[1];
    await admin.query(remedy ?? stderr);
    expect((await migrate()).code).toBe(0);
  },
);
