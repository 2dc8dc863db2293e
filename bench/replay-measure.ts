import { createScratchDatabase } from '../src/replay/scratch.ts';
import { createPool } from '../src/db/pool.ts';
import { differs, replayArchive } from '../src/replay/replay.ts';
import { clusterCpuMs } from './cluster-cpu.ts';
import { withExplorer } from './explorer.ts';
import { measureCopy, type CopyFloor } from './floor.ts';
import type { Server } from './server.ts';
import { measureSync } from './sync.ts';
import { chainOf, pageSize } from './world.ts';

/** A replay of archived pages, beside the sync that archived them. */
export interface ReplayMeasure {
  readonly pages: number;
  /** Items that became rows of their own table. */
  readonly rows: number;
  /** Rows of all tables at the end: those of addresses and of child tables too. */
  readonly tableRows: number;
  /** The sync's walk, bodies archived, and a replay's pages without the comparison; in ms. */
  readonly syncMs: number;
  readonly replayMs: number;
  readonly compareMs: number;
  readonly nodeCpuMs: number;
  readonly postgresCpuMs: number | null;
  /** Of all bodies, packed. */
  readonly archivedBytes: number;
  readonly isEqual: boolean;
  /** Resident memory of this process after the first part of the archive, and at most. */
  readonly firstRssBytes: number;
  readonly mostRssBytes: number;
  /** COPY of the same rows into twins of the same tables. */
  readonly copy: CopyFloor;
}

/** Archives a list of `pages` pages, and replays it when the explorer is no more. */
export async function measureReplay(
  server: Server,
  { pages }: { readonly pages: number },
  signal: AbortSignal,
): Promise<ReplayMeasure> {
  return server.withDatabase(async (databaseUrl) => {
    const input = { databaseUrl, dataDirectory: server.dataDirectory, memoryAtPages: [] };
    const world = { chain: chainOf(pages), latencyMs: 0 };
    const sync = await withExplorer(world, signal, (explorerUrl) =>
      measureSync({ ...input, explorerUrl, archive: 'all' }, signal),
    );
    const replay = await replayOnce(server, databaseUrl, signal);
    return { ...replay, syncMs: sync.walkMs, copy: await measureCopy(databaseUrl) };
  });
}

async function replayOnce(
  { dataDirectory }: Server,
  databaseUrl: string,
  signal: AbortSignal,
): Promise<Omit<ReplayMeasure, 'syncMs' | 'copy'>> {
  const pool = createPool({ url: databaseUrl, max: 2, applicationName: 'explorer-etl bench' });
  const scratch = await createScratchDatabase(databaseUrl);
  try {
    const [postgresMs, cpu, started] = [
      clusterCpuMs(dataDirectory),
      process.cpuUsage(),
      performance.now(),
    ];
    let at = { ms: 0, cpuMs: 0, postgresMs };
    const rssBytes: number[] = [];
    const onProgress = () => {
      rssBytes.push(process.memoryUsage.rss());
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
      pages: report.pages,
      rows: report.rows,
      tableRows: report.tables.reduce((sum, { replayed }) => sum + replayed.rows, 0),
      firstRssBytes: rssBytes[0] ?? 0,
      mostRssBytes: Math.max(0, ...rssBytes),
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
