/**
 * `npm run bench throughput [-- --quick]`: how fast the program is on this machine, each figure beside its aim
 * and beside what the machine can do at best in the same run. Judges nothing: exit code 0.
 */
import { parseArgs } from 'node:util';
import { interruptSignal } from './child.ts';
import { chainOf, pageSize, withExplorer } from './explorer.ts';
import { measureBareRead, measureCopy, type CopyBaseline } from './baseline.ts';
import { describeMachine } from './machine.ts';
import { withServer, type Server } from './server.ts';
import { measureSync, type MemorySample, type SyncMeasure } from './sync.ts';
import { plainLook, tableLines } from '../src/terminal/layout.ts';

/** How long the explorer lets every answer wait, in ms: a service across an ocean. */
const latencyMs = 50;

/** Long enough to outlast warming up, short enough to wait for: under six minutes in all. */
const full = {
  throughput: { pages: 2000, runs: 3 },
  latency: { pages: 100 },
  memory: { atPages: [100, 1000, 10_000] },
};
/** Under half a minute: shows a fall by half, not by a tenth. */
const quick = {
  throughput: { pages: 500, runs: 1 },
  latency: { pages: 60 },
  memory: { atPages: [100, 500] },
};

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const plan = values.quick ? quick : full;

const signal = interruptSignal();

try {
  await withServer(async (server) => {
    console.log(await describeMachine(server.url));
    const figures = [
      ...throughputFigures(await measureThroughput(server, plan.throughput)),
      ...latencyFigures(await measureLatency(server, plan.latency)),
      ...memoryFigures(await measureMemory(server, plan.memory)),
    ];
    console.log(drawTable(figures));
  });
} catch (error) {
  if (!signal.aborted) throw error;
  process.exitCode = 130;
}

/** Walks `pages` pages of a service that takes 50 ms for each, beside the same pages read and thrown away. */
async function measureLatency(server: Server, { pages }: { readonly pages: number }) {
  return withExplorer(
    { chain: chainOf(pages), latencyMs },
    signal,
    async ({ url: explorerUrl }) => {
      const bareReadSeconds = await measureBareRead(explorerUrl, pages);
      const sync = await server.withDatabase((databaseUrl) => {
        const { dataDirectory } = server;
        return measureSync({ databaseUrl, dataDirectory, explorerUrl, memoryAtPages: [] }, signal);
      });
      return { sync, bareReadSeconds };
    },
  );
}

/** What the syncing process holds after a few pages and after many, of one walk. */
async function measureMemory(
  server: Server,
  { atPages }: { readonly atPages: readonly number[] },
): Promise<readonly MemorySample[]> {
  const chain = chainOf(Math.max(...atPages));
  return withExplorer({ chain, latencyMs: 0 }, signal, async ({ url: explorerUrl }) => {
    const { dataDirectory } = server;
    const { memory } = await server.withDatabase((databaseUrl) =>
      measureSync({ databaseUrl, dataDirectory, explorerUrl, memoryAtPages: atPages }, signal),
    );
    return memory;
  });
}

/** One feed against an API that answers at once, beside what reading and writing alone cost. */
interface Throughput {
  readonly rows: number;
  readonly sync: SyncMeasure;
  readonly copy: CopyBaseline;
  readonly bareReadSeconds: number;
}

/** Copies a list of `pages` pages into a fresh database, `runs` times, slowest first. */
async function measureThroughput(
  server: Server,
  { pages, runs }: { readonly pages: number; readonly runs: number },
): Promise<readonly Throughput[]> {
  return withExplorer(
    { chain: chainOf(pages), latencyMs: 0 },
    signal,
    async ({ url: explorerUrl }) => {
      const measured: Throughput[] = [];
      for (let run = 0; run < runs; run += 1) {
        const bareReadSeconds = await measureBareRead(explorerUrl, pages);
        const result = await server.withDatabase(async (databaseUrl) => {
          const { dataDirectory } = server;
          const input = { databaseUrl, dataDirectory, explorerUrl, memoryAtPages: [] };
          const sync = await measureSync(input, signal);
          return { sync, copy: await measureCopy(databaseUrl) };
        });
        measured.push({ rows: pages * pageSize, bareReadSeconds, ...result });
      }
      return measured.toSorted((a, b) => b.sync.walkMs - a.sync.walkMs);
    },
  );
}

/** A figure, what it should be, and what the same machine can do at best in the same run. */
type Figure = readonly [name: string, measured: string, aim: string, baseline: string];

/** Figures as lines of a table. */
function drawTable(figures: readonly Figure[]): string {
  const head = ['', 'measured', 'aim', 'baseline in this run'];
  return tableLines(plainLook, { head, rows: figures }).join('\n');
}

/** Of an odd number of runs the middle one, by time. */
function throughputFigures(runs: readonly Throughput[]): Figure[] {
  const middle = runs[Math.floor(runs.length / 2)];
  if (middle === undefined) return [];
  const { rows, sync, copy, bareReadSeconds } = middle;
  const seconds = sync.walkMs / 1000;
  const all = runs.map((run) => Math.round(rowsPerSecond(run))).join(', ');
  const perRow = (ms: number | null) =>
    ms === null ? 'not reported by this system' : `${((ms * 1000) / rows).toFixed(0)} µs`;
  return [
    [
      `rows/s of one feed, ${rows} user operations (runs: ${all})`,
      rowsPerSecond(middle).toFixed(0),
      'at least 8000',
      `${(rows / bareReadSeconds).toFixed(0)} reading alone, ${(rows / copy.seconds).toFixed(0)} COPY alone`,
    ],
    [
      `its ratio to COPY of the ${copy.rows} rows that it wrote`,
      (copy.seconds / seconds).toFixed(3),
      'at least 0.25',
      `COPY ${copy.seconds.toFixed(2)} s of ${seconds.toFixed(2)} s`,
    ],
    ['processor time per row in node', perRow(sync.nodeCpuMs), '', ''],
    ['processor time per row in Postgres, all its processes', perRow(sync.postgresCpuMs), '', ''],
  ];
}

function rowsPerSecond({ rows, sync }: Throughput): number {
  return (rows * 1000) / sync.walkMs;
}

type Latency = Awaited<ReturnType<typeof measureLatency>>;

function latencyFigures({ sync, bareReadSeconds }: Latency): Figure[] {
  const idealMs = sync.pages * latencyMs;
  const bareMs = bareReadSeconds * 1000;
  return [
    [
      `walk's time over ${sync.pages} pages × ${latencyMs} ms`,
      (sync.walkMs / idealMs).toFixed(3),
      'at most 1.05',
      `${(bareMs / idealMs).toFixed(3)} reading alone`,
    ],
    [
      'the same of the whole command, from start to exit',
      (sync.commandMs / idealMs).toFixed(3),
      '',
      `${sync.commandMs.toFixed(0)} ms, of which ${sync.walkMs.toFixed(0)} walking`,
    ],
  ];
}

function memoryFigures(samples: readonly MemorySample[]): Figure[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return [];
  const figure = (name: string, of: (sample: MemorySample) => number): Figure => [
    `${name} after ${samples.map(({ pages }) => pages).join(', ')} pages`,
    samples.map((sample) => `${(of(sample) / 2 ** 20).toFixed(0)} MB`).join(', '),
    'flat',
    `× ${(of(last) / of(first)).toFixed(2)}`,
  ];
  return [
    figure('heap after a collection', ({ heapBytes }) => heapBytes),
    figure('resident memory', ({ rssBytes }) => rssBytes),
    figure('peak of resident memory', ({ peakRssBytes }) => peakRssBytes),
  ];
}
