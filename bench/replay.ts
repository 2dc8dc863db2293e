import { createScratchDatabase } from '../src/db/scratch.ts';
import { createPool } from '../src/db/pool.ts';
import { differs, replayArchive } from '../src/feeds/replay.ts';
import { clusterCpuMs } from './cluster-cpu.ts';
import { withExplorer } from './explorer.ts';
import type { Server } from './server.ts';
import { measureSync } from './sync.ts';
import { chainOf, pageSize } from './world.ts';

/** A replay of archived pages, beside the sync that archived them. */
export interface ReplayMeasure {
  readonly rows: number;
  /** The sync's walk, bodies archived, and a replay's pages without the comparison; in ms. */
  readonly syncMs: number;
  readonly replayMs: number;
  readonly compareMs: number;
  readonly nodeCpuMs: number;
  readonly postgresCpuMs: number | null;
  /** Of all bodies, packed. */
  readonly archivedBytes: number;
  readonly isEqual: boolean;
}

/** Archives a list of `pages` pages, and replays it. */
export async function measureReplay(
  server: Server,
  { pages }: { readonly pages: number },
  signal: AbortSignal,
): Promise<ReplayMeasure> {
  return withExplorer({ chain: chainOf(pages), latencyMs: 0 }, signal, (explorerUrl) =>
    server.withDatabase(async (databaseUrl) => {
      const { dataDirectory } = server;
      const input = { databaseUrl, dataDirectory, explorerUrl, memoryAtPages: [] };
      const sync = await measureSync({ ...input, archive: 'all' }, signal);
      return { ...(await replayOnce(server, databaseUrl, signal)), syncMs: sync.walkMs };
    }),
  );
}

async function replayOnce(
  { dataDirectory }: Server,
  databaseUrl: string,
  signal: AbortSignal,
): Promise<Omit<ReplayMeasure, 'syncMs'>> {
  const pool = createPool({ url: databaseUrl, max: 2, applicationName: 'explorer-etl bench' });
  const scratch = await createScratchDatabase(databaseUrl);
  try {
    const [postgresMs, cpu, started] = [
      clusterCpuMs(dataDirectory),
      process.cpuUsage(),
      performance.now(),
    ];
    let at = { ms: 0, cpuMs: 0, postgresMs };
    const onProgress = () => {
      const { user, system } = process.cpuUsage(cpu);
      at = {
        ms: performance.now() - started,
        cpuMs: (user + system) / 1000,
        postgresMs: clusterCpuMs(dataDirectory),
      };
    };
    const options = { use: 'digests', onProgress, onDifference: () => undefined } as const;
    const report = await replayArchive(pool, scratch, options, signal);
    const { rows } = await pool.query<{ bytes: string }>(
      'select sum(archived_bytes) as bytes from etl.walks',
    );
    return {
      rows: report.rows,
      replayMs: at.ms,
      compareMs: performance.now() - started - at.ms,
      nodeCpuMs: at.cpuMs,
      postgresCpuMs:
        postgresMs === null || at.postgresMs === null ? null : at.postgresMs - postgresMs,
      archivedBytes: Number(rows[0]?.bytes),
      isEqual: !report.tables.some(differs) && report.rows === report.pages * pageSize,
    };
  } finally {
    await scratch.drop();
    await pool.end();
  }
}
