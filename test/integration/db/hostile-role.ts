import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { readSchema } from '../../../src/db/migrate.ts';
import { rollUp } from '../../../src/rollups/roll.ts';
import { statusNow } from '../../../src/status/status.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { prepareUrl } from '../../harness/client.ts';
import { databaseAt, freshDatabase } from '../../harness/database.ts';
import { copySeed, runSync, shortChain } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** An empty database, and a role that owns it and has these settings there. */
export async function ownedWith(settings: readonly Setting[]) {
  const admin = await freshDatabase('empty');
  const role = `test_${randomBytes(6).toString('hex')}`;
  const database = new URL(admin.url).pathname.slice(1);
  await admin.query(`create role ${role} login password 'test'`);
  onTestFinished(async () => {
    await admin.query(`reassign owned by ${role} to current_user`);
    await admin.query(`drop role ${role}`);
  });
  await admin.query(`alter database ${database} owner to ${role}`);
  for (const { name, value } of settings) {
    await admin.query(`alter role ${role} in database ${database} set ${name} = '${value}'`);
  }
  const url = new URL(admin.url);
  url.username = role;
  url.password = 'test';
  return { admin, owner: databaseAt(url.href) };
}

/** Migrates the database as its owner, copies a chain, sums up, verifies. @returns what is not as it should be */
export async function faultsOf(
  { admin, owner }: Awaited<ReturnType<typeof ownedWith>>,
  url: string,
): Promise<unknown[]> {
  await prepareUrl(owner.url);
  const { lost } = await readSchema(owner.pool);
  const run = { url, chains: [shortChain] };
  const results = [...(await runSync(owner, run)), ...(await runSync(owner, run))];
  await rollUp({ db: owner.db, now: () => performance.now() }, new AbortController().signal);
  await statusNow(owner.pool, 50);
  return [
    ...lost,
    ...results.flatMap(({ state, reason }) => (state === 'finished' ? [] : [reason])),
    ...(await verifyFeeds(owner.db)).flatMap(({ open }) => open),
    ...Object.entries(await differences(admin.pool, copySeed, shortChain, {})),
  ];
}
