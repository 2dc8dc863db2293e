import { expect, test } from 'vitest';
import { describeDatabaseError } from '../../../src/db/failure.ts';
import { sharedDatabase } from '../../harness/database.ts';
import { simulated } from '../../harness/explorer.ts';
import { copySeed, shortChain } from '../../harness/sync.ts';
import { faultsOf, ownedWith, type Setting } from './hostile-role.ts';

const server = sharedDatabase();

/** Values of settings that are texts; the others have names of files, schemas or languages. */
const texts: Readonly<Record<string, readonly string[]>> = {
  DateStyle: ['SQL, DMY', 'German', 'Postgres, MDY'],
  TimeZone: ['Pacific/Kiritimati', 'America/St_Johns'],
  timezone_abbreviations: ['Australia'],
  client_encoding: ['LATIN1', 'SQL_ASCII'],
  search_path: ['nowhere', 'public'],
  default_text_search_config: ['pg_catalog.german'],
};

/** A value beyond which costs make Postgres 18 plan what it cannot run. */
const mostReal = 1e6;

/** Each setting that a role can have with its bounds, the next one inside, and other choices. */
async function everySetting(): Promise<Setting[]> {
  const rows = await server.query(`
    select name, vartype, reset_val, min_val, max_val, enumvals from pg_settings
    where context in ('user', 'superuser') and name not like 'transaction\\_%'
      and name not in ('session_replication_role', 'restrict_nonsystem_relation_kind')
    order by name`);
  const all: Setting[] = rows.flatMap(
    ({ name, vartype, reset_val, min_val, max_val, enumvals }) => {
      const low = Number(min_val);
      const values: Readonly<Record<string, readonly string[]>> = {
        bool: ['on', 'off'],
        enum: enumvals ?? [],
        string: texts[name] ?? [],
      };
      // Time limits of a test's own connection: shorter ones end it before the program can change them.
      const small = name.endsWith('_timeout') ? 500 : low + 1;
      const numbers = [String(low), String(Math.min(Number(max_val), mostReal)), String(small)];
      return [...new Set(values[vartype] ?? numbers)]
        .filter((value) => value !== reset_val)
        .map((value) => ({ name, value }));
    },
  );
  const accepted = all.map(async (setting) => {
    // Within its bounds a value may still be none.
    const set = server.query('select set_config($1, $2, true)', [setting.name, setting.value]);
    return (await set.then(() => true).catch(() => false)) ? [setting] : [];
  });
  return (await Promise.all(accepted)).flat();
}

/** In rounds in which each setting is named once, in parts of so many. */
const together = 48;

function partsOf(settings: readonly Setting[]): Setting[][] {
  const rounds: Setting[][] = [];
  for (const of of Map.groupBy(settings, ({ name }) => name).values()) {
    for (const [round, setting] of of.entries()) (rounds[round] ??= []).push(setting);
  }
  return rounds.flatMap((round) =>
    Array.from({ length: Math.ceil(round.length / together) }, (_, part) =>
      round.slice(part * together, (part + 1) * together),
    ),
  );
}

/** The settings that break the program, each by itself. */
async function breaking(settings: readonly Setting[], url: string): Promise<string[]> {
  const faults = await ownedWith(settings)
    .then((database) => faultsOf(database, url))
    .catch((error: unknown) => [describeDatabaseError(error)]);
  if (faults.length === 0) return [];
  const [first] = settings;
  if (settings.length === 1) return [`${first?.name} = ${first?.value}: ${JSON.stringify(faults)}`];
  const half = settings.length >> 1;
  return [
    ...(await breaking(settings.slice(0, half), url)),
    ...(await breaking(settings.slice(half), url)),
  ];
}

test('no setting that a role can have breaks a migration, a sync or a verification', async () => {
  const { url } = await simulated({ seed: copySeed, chains: [shortChain] });
  const found: string[] = [];
  for (const part of partsOf(await everySetting())) found.push(...(await breaking(part, url)));
  expect(found).toEqual([]);
});
