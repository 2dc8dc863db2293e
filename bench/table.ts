import Table from 'cli-table3';
import { latencyMs, type Latency } from './latency.ts';
import type { MemorySample } from './sync.ts';
import type { Throughput } from './throughput.ts';

/** A figure, what it should be, and what the same machine can do at best in the same run. */
export interface Figure {
  readonly name: string;
  readonly measured: string;
  readonly aim: string;
  readonly floor: string;
}

/** Figures as lines of a table. */
export function drawTable(figures: readonly Figure[]): string {
  const table = new Table({
    head: ['', 'measured', 'aim', 'floor in this run'],
    style: { head: [], border: [] },
  });
  for (const { name, measured, aim, floor } of figures) table.push([name, measured, aim, floor]);
  return table.toString();
}

/** Of an odd number of runs the middle one, by time. */
export function throughputFigures(runs: readonly Throughput[]): Figure[] {
  const middle = runs[Math.floor(runs.length / 2)];
  if (middle === undefined) return [];
  const { rows, sync, copy, bareReadSeconds } = middle;
  const seconds = sync.walkMs / 1000;
  const all = runs.map((run) => Math.round(rowsPerSecond(run))).join(', ');
  const perRow = (ms: number | null) =>
    ms === null ? 'not told by this system' : `${((ms * 1000) / rows).toFixed(0)} µs`;
  return [
    {
      name: `rows/s of one feed, ${rows} user operations (runs: ${all})`,
      measured: rowsPerSecond(middle).toFixed(0),
      aim: 'at least 8000',
      floor: `${(rows / bareReadSeconds).toFixed(0)} reading alone, ${(rows / copy.seconds).toFixed(0)} COPY alone`,
    },
    {
      name: `its ratio to COPY of the ${copy.rows} rows that it wrote`,
      measured: (copy.seconds / seconds).toFixed(3),
      aim: 'at least 0.25',
      floor: `COPY ${copy.seconds.toFixed(2)} s of ${seconds.toFixed(2)} s`,
    },
    {
      name: 'processor time per row in node',
      measured: perRow(sync.nodeCpuMs),
      aim: '',
      floor: '',
    },
    {
      name: 'processor time per row in Postgres, all its processes',
      measured: perRow(sync.postgresCpuMs),
      aim: '',
      floor: '',
    },
  ];
}

const rowsPerSecond = ({ rows, sync }: Throughput) => (rows * 1000) / sync.walkMs;

export function latencyFigures({ sync, bareReadSeconds }: Latency): Figure[] {
  const idealMs = sync.pages * latencyMs;
  const bareMs = bareReadSeconds * 1000;
  return [
    {
      name: `walk's time over ${sync.pages} pages × ${latencyMs} ms`,
      measured: (sync.walkMs / idealMs).toFixed(3),
      aim: 'at most 1.05',
      floor: `${(bareMs / idealMs).toFixed(3)} reading alone`,
    },
    {
      name: 'the same of the whole command, from start to exit',
      measured: (sync.commandMs / idealMs).toFixed(3),
      aim: '',
      floor: `${sync.commandMs.toFixed(0)} ms, of which ${sync.walkMs.toFixed(0)} walking`,
    },
  ];
}

export function memoryFigures(samples: readonly MemorySample[]): Figure[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return [];
  const figure = (name: string, of: (sample: MemorySample) => number): Figure => ({
    name: `${name} after ${samples.map(({ pages }) => pages).join(', ')} pages`,
    measured: samples.map((sample) => `${(of(sample) / 2 ** 20).toFixed(0)} MB`).join(', '),
    aim: 'flat',
    floor: `× ${(of(last) / of(first)).toFixed(2)}`,
  });
  return [
    figure('heap after a collection', ({ heapBytes }) => heapBytes),
    figure('resident memory', ({ rssBytes }) => rssBytes),
    figure('peak of resident memory', ({ peakRssBytes }) => peakRssBytes),
  ];
}
