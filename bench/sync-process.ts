/** One sync of one feed in a process of its own, measured from inside; what `sync` does. */
import { type Engine, openEngine, prepareDatabase } from '../src/app.ts';
import { createLog } from '../src/log.ts';
import { openDatabase } from '../src/cli/database.ts';
import { signals } from '../src/signals.ts';
import { configuredLanes } from '../src/sync/feeds.ts';
import { syncOnce } from '../src/sync/once.ts';
import { readInput, tellParent } from './child.ts';
import { settingsFor } from './explorer.ts';
import { clusterCpuMs } from './machine.ts';
import type { MemorySample, SyncInput, SyncMeasure } from './sync.ts';

const input = readInput() as SyncInput;
const settings = settingsFor(input.explorerUrl, input.requestsPerSecond);
const database = await openDatabase({ databaseUrl: input.databaseUrl }, { cwd: '/' });
await prepareDatabase(database);

const marks = [...input.memoryAtPages];
const memory: MemorySample[] = [];
let pages = 0;
let lastCommitMs = 0;
const engine = await openEngine({
  settings,
  database,
  log: createLog('warn', (line) => void process.stderr.write(line)),
});
signals.on('commit', (committed) => {
  lastCommitMs = performance.now();
  pages += committed.pages;
  while ((marks[0] ?? Infinity) <= pages) memory.push(sampleMemory(marks.shift() ?? 0));
});

const start = { ms: 0, cpu: process.cpuUsage(), postgresMs: clusterCpuMs(input.dataDirectory) };
const watched: Engine = {
  ...engine,
  fetchPage(request, signal) {
    if (start.ms === 0) {
      start.cpu = process.cpuUsage();
      start.postgresMs = clusterCpuMs(input.dataDirectory);
      start.ms = performance.now();
    }
    return engine.fetchPage(request, signal);
  },
};
const targets = configuredLanes(settings.chains).flatMap(({ lane, scope }) =>
  scope === null ? [] : [{ lane, scope }],
);
const results = await syncOnce(targets, watched, new AbortController().signal);
const used = process.cpuUsage(start.cpu);
const postgresMs = clusterCpuMs(input.dataDirectory);
await engine.close();
await database.pool.end();

const failed = results.find(({ state }) => state !== 'finished');
if (failed !== undefined) throw new Error(`${failed.feed}: ${failed.state}, ${failed.reason}`);
tellParent({
  pages,
  walkMs: lastCommitMs - start.ms,
  commandMs: performance.now(),
  nodeCpuMs: cpuMs(used),
  processCpuMs: cpuMs(process.cpuUsage()),
  postgresCpuMs:
    start.postgresMs === null || postgresMs === null ? null : postgresMs - start.postgresMs,
  memory,
} satisfies SyncMeasure);
process.disconnect();

function cpuMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

/** `maxRSS` is in kilobytes. */
function sampleMemory(atPages: number): MemorySample {
  globalThis.gc?.();
  return {
    pages: atPages,
    heapBytes: process.memoryUsage().heapUsed,
    rssBytes: process.memoryUsage.rss(),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
  };
}
