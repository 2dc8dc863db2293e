/** What `bench peers` shows of its measurements: a table in the terminal, and docs/benchmarks.md. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pageSize } from './explorer.ts';

/** What a copy of the list took. */
export interface Cost {
  readonly walkMs: number;
  readonly programCpuMs: number;
  readonly postgresCpuMs: number | null;
  readonly peakRssBytes: number;
  /** Of the program, from its start to its end. */
  readonly processCpuMs: number;
}

/** How many rows, how many different ones, and a sum of their digests. */
export interface Rows {
  readonly all: number;
  readonly distinct: number;
  readonly digest: string;
}

/** One round of one program. */
export interface Measured {
  readonly copied: Cost & {
    readonly verifyMs: number | null;
    readonly requests: number;
    readonly rows: Rows;
  };
  /** A copy that was killed halfway and started again. */
  readonly killed: { readonly requests: number; readonly rows: Rows };
  /** The part of the requests that the key allowed. */
  readonly keyShare: number;
  /** Processor time of both in a run that finds nothing new, from its start to its end. */
  readonly nothingNewMs: number;
  /** A shorter list of an explorer that takes a while to answer. */
  readonly slow: Cost;
}

/** The list of the slow explorer, and how long each of its answers takes. */
export const slowCase = { pages: 200, latencyMs: 50 } as const;

/** What the service charges for a page of a list. */
const creditsPerRequest = 20;

/** What a figure means, and its value in a round; text: what there is in place of a number. */
type Figure = readonly [meaning: string, of: (one: Measured) => string | number];

const repeated = ({ copied, killed }: Measured) => killed.requests - copied.requests;
const verified = ({ copied: { walkMs, verifyMs } }: Measured) =>
  verifyMs === null ? 'cannot' : (walkMs + verifyMs) / 1_000;

const figuresOf = (rows: number, truth: string | undefined): Readonly<Record<string, Figure>> => {
  const perRow = (ms: number | null) => ((ms ?? Number.NaN) * 1_000) / rows;
  const credits = ({ copied }: Measured) => copied.requests * creditsPerRequest;
  return {
    'rows/s': [
      'rows by the time from the first request to the last commit',
      ({ copied }) => (rows * 1_000) / copied.walkMs,
    ],
    'program, µs/row': ['its processor time', ({ copied }) => perRow(copied.programCpuMs)],
    'Postgres, µs/row': [
      'the processor time of all of its processes meanwhile',
      ({ copied }) => perRow(copied.postgresCpuMs),
    ],
    [`µs/row behind ${slowCase.latencyMs} ms`]: [
      `the sum of both, for ${slowCase.pages} pages of an explorer that takes ${slowCase.latencyMs} ms to answer`,
      ({ slow }) =>
        ((slow.programCpuMs + (slow.postgresCpuMs ?? Number.NaN)) * 1_000) /
        (slowCase.pages * pageSize),
    ],
    'fixed, s': [
      'processor time of both in a run that finds nothing new, from its start to its end',
      ({ nothingNewMs }) => nothingNewMs / 1_000,
    ],
    'peak MB': ['memory of the largest process', ({ copied }) => copied.peakRssBytes / 2 ** 20],
    'credits/M rows': [
      `${creditsPerRequest} credits for each request, for a million rows`,
      (one) => (credits(one) * 1e6) / rows,
    ],
    'share of the key, %': [
      "the requests of the list, of those that the key's rate allows in the time of the copy",
      ({ keyShare }) => keyShare * 100,
    ],
    'lost per kill': [
      'rows missing after a SIGKILL halfway and a second start',
      ({ killed }) => rows - killed.rows.distinct,
    ],
    'doubled per kill': [
      'rows stored more than once after it',
      ({ killed }) => killed.rows.all - killed.rows.distinct,
    ],
    'read again per kill': ['rows requested and paid twice', (one) => repeated(one) * pageSize],
    's to verify 0': [
      'from the first request until `verify` ends with code 0, as nothing is missing',
      verified,
    ],
    rows: [
      'whether each row of each copy is that of this program',
      ({ copied }) => (copied.rows.digest === truth ? 'equal' : 'different'),
    ],
  };
};

const format = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });
const text = (value: number) => format.format(value);

/** The median, and the least and most where they differ. */
function spread(values: readonly (string | number)[]): string {
  const numbers = values.filter((value) => typeof value === 'number').toSorted((a, b) => a - b);
  const [least, most] = [numbers[0], numbers.at(-1)];
  if (least === undefined || most === undefined) return [...new Set(values)].join(', ');
  const median = text(numbers[Math.floor(numbers.length / 2)] ?? Number.NaN);
  return text(least) === text(most) ? median : `${median} (${text(least)}–${text(most)})`;
}

/** A row for each program. */
export function tableOf(measured: ReadonlyMap<string, readonly Measured[]>, rows: number) {
  const truth = measured.get('this program')?.[0]?.copied.rows.digest;
  const figures = Object.entries(figuresOf(rows, truth));
  const cells = (all: readonly Measured[]) => figures.map(([, [, of]]) => spread(all.map(of)));
  return {
    head: ['', ...figures.map(([name]) => name)],
    rows: [...measured].map(([name, all]) => [name, ...cells(all)]),
  };
}

type Plan = Readonly<Record<'pages' | 'runs' | 'latencyMs' | 'rate' | 'keySeconds', number>>;

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** Writes docs/benchmarks.md. The programs are columns: there are fewer of them than figures. */
export async function writePage(machine: string, table: ReturnType<typeof tableOf>, plan: Plan) {
  const { pages, runs, latencyMs, rate, keySeconds } = plan;
  const figures = table.head.slice(1).map((name, at) => {
    return line([name, ...table.rows.map((row) => row[at + 1] ?? '')]);
  });
  const names = line(['', ...table.rows.map(([name = '']) => name)]);
  const meanings = Object.entries(figuresOf(1, '')).map(
    ([name, [meaning]]) => `- **${name}**: ${meaning}.`,
  );
  const body = `# Benchmarks

\`npm run bench peers -- --write --pages ${pages} --runs ${runs} --latency ${latencyMs} --rate ${rate}\` wrote this page on
${new Date().toISOString().slice(0, 10)}. It copies one list of ${(pages * pageSize).toLocaleString('en')} user operations, ${pageSize} on a page, from a simulated
explorer into an empty database; ${runs} times, the programs in turn. Figures are medians, with the least and the most.

\`\`\`text
${machine}
\`\`\`

${[names, line(['-', ...table.rows.map(() => '-:')]), ...figures].join('\n')}

## What the figures mean

${meanings.join('\n')}

For the share of the key, the explorer allows ${rate} requests per second for ${keySeconds} seconds' worth of pages.

## What is compared

- **This program** checks each page, keeps a ledger of pages and coverage, and can show that nothing is missing.
- **A script of an afternoon**: two tables with the same indexes, one transaction a page, the next page read meanwhile.
- **dlt**: CSV files, two workers, nested values as tables.
- **Airbyte's CDK**: a low-code source, its messages as JSON, and a destination that copies batches. The platform with
  its containers is left out.

The peers' programs are in \`bench/peers\`.
`;
  const root = join(import.meta.dirname, '..');
  const file = join(root, 'docs', 'benchmarks.md');
  await writeFile(file, body);
  await promisify(execFile)(join(root, 'node_modules/.bin/prettier'), ['--write', file]);
}
