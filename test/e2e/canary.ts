import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { unpackBody } from '../../src/sync/archive.ts';

/** Characters that URLs, JSON and base64 each write in another way. */
export const apiKey = 'canaryA+7Qx/w Z=9%"é';
/** The key of another chain. */
export const otherKey = 'canaryB$8Rv:u-Y{7}<ß';
export const secretKey = 'canaryS~4Kd&m?Y#2\\ü';

/** How often the sessions' statements are looked at, in ms. */
const pollMs = 20;

/** Every way in which something could have written a secret. */
const forms = [apiKey, otherKey, secretKey].flatMap((secret) => {
  const bytes = Buffer.from(secret);
  const percent = encodeURIComponent(secret);
  const query = new URLSearchParams({ x: secret }).toString().slice(2);
  // Base64 depends on where in a group of three bytes the secret begins; its ends on neighbours.
  const base64 = ['', 'x', 'xx'].map((before) =>
    Buffer.from(before + secret)
      .toString('base64')
      .slice(4, -4),
  );
  const plain = [secret, JSON.stringify(secret).slice(1, -1), percent, query, secret.slice(0, 8)];
  return [
    ...plain,
    ...[percent, query].map((text) => text.replaceAll(/%../g, (code) => code.toLowerCase())),
    encodeURIComponent(percent),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
  ];
});

/** The forms of a secret that a text holds. */
export const leaks = (text: string) => forms.filter((form) => text.includes(form));

/** Tables of Postgres itself that repeat what it is given: samples of columns, comments, settings. */
const catalogs = ['pg_statistic', 'pg_description', 'pg_authid', 'pg_db_role_setting'];

/**
 * `table: form` for every table, of every schema, that holds a form of a secret in some row, and for
 * every archived body that does when unpacked.
 */
export async function storedLeaks(pool: Pool): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p', 'm')
       and (nspname not in ('information_schema', 'pg_catalog', 'pg_toast')
         or relname = any($1))`,
    [catalogs],
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ form: string }>(
      `select distinct form
       from ${name} as t, unnest($1::text[]) as form
       where strpos(t::text, form) > 0 or strpos(to_json(t)::text, form) > 0`,
      [forms],
    );
    found.push(...rows.map(({ form }) => `${name}: ${form}`));
  }
  const bodies = await archivedBodies(pool);
  return [...found, ...bodies.flatMap(leaks).map((form) => `archived body: ${form}`)];
}

/** The bodies in the archive as they were served, and as their JSON says when it is read. */
async function archivedBodies(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ body: Buffer }>('select body from etl.raw_pages');
  const bodies = rows.map(({ body }) => unpackBody(body));
  return bodies.map(String).flatMap((text) => [text, ...textsOf(JSON.parse(text))]);
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
}

/** Looks at what every session of the database runs or ran last, until stopped. */
export function watchStatements(watched: Pool): { stop(): Promise<string[]> } {
  const stopping = new AbortController();
  const seen = new Set<string>();
  const watching = (async () => {
    while (!stopping.signal.aborted && !watched.ending) {
      const { rows } = await watched.query<{ text: string }>(`
        select concat_ws(' ', application_name, query) as text from pg_stat_activity
        where datname = current_database()`);
      for (const { text } of rows) seen.add(text);
      await delay(pollMs);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await watching;
      return [...seen];
    },
  };
}
