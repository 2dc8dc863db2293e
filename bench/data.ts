/**
 * `npm run bench:data [-- --operations 200000] (--database-url URL | --directory DIR)`: fills an empty
 * database as a year of polls would leave it, and says how large its tables are. With a directory it
 * makes an embedded Postgres there, and leaves it for `npm run bench:growth`.
 */
import { parseArgs } from 'node:util';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import { grow, tableSizes } from '../test/grown/grow.ts';
import { grownSettings } from '../test/grown/settings.ts';
import { sizeOf } from '../test/grown/size.ts';
import { openKept } from './server.ts';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '200000' },
    'database-url': { type: 'string' },
    directory: { type: 'string' },
  },
});

const kept = await openKept(values);
const pool = createPool({ url: kept.url, max: 2, applicationName: 'explorer-etl bench' });
try {
  await migrate(kept.url);
  const size = sizeOf(Number(values.operations), Date.now());
  const begin = performance.now();
  await grow(pool, size, grownSettings('http://localhost', size).chains);
  console.log(`grown in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  for (const { table, rows, bytes } of await tableSizes(pool)) {
    console.log(
      `${table.padEnd(32)} ${String(rows).padStart(10)} rows ${String(Math.ceil(bytes / 2 ** 20)).padStart(7)} MB`,
    );
  }
} finally {
  await pool.end();
  await kept.close();
}
