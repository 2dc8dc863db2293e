/**
 * `npm run bench peers [-- --pages 2000 --runs 3 --latency 0]`: one list copied by this program, by a script
 * of an afternoon and by dlt (`bench/peers/`), in turn, on one server and from one simulated explorer.
 * Medians, and what each costs beside the script; every row is compared. Peers are left out, with a word, where Python or its packages are not
 * to be had. Judges nothing but the rows: exit code 1 where a peer's differ.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { interruptSignal } from './child.ts';
import { apiKey, chainOf, pageSize, withExplorer } from './explorer.ts';
import { clusterCpuMs, describeMachine } from './machine.ts';
import { withServer, type Server } from './server.ts';
import { measureSync } from './sync.ts';
import { withClient } from '../test/harness/client.ts';
import { plainLook, tableLines } from '../src/terminal/layout.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '2000' },
    runs: { type: 'string', default: '3' },
    latency: { type: 'string', default: '0' },
  },
});
const [pages, runs, latencyMs] = [values.pages, values.runs, values.latency].map(Number) as [
  number,
  number,
  number,
];

/** What a copy of the list took. */
interface Cost {
  readonly walkMs: number;
  readonly programCpuMs: number;
  readonly postgresCpuMs: number | null;
  readonly peakRssBytes: number;
}

interface Run extends Cost {
  /** Of its rows: how many, and a sum of their digests. */
  readonly rows: string;
}

type Copy = (urls: { readonly database: string; readonly explorer: string }) => Promise<Cost>;

const run = promisify(execFile);
const folder = join(import.meta.dirname, 'peers');
const signal = interruptSignal();

await withServer(async (server) => {
  console.log(await describeMachine(server.url));
  const python = await preparePython();
  const bundled = await bundle();
  const copies: Readonly<Record<string, { copy: Copy; table: string }>> = {
    'this program': { copy: copyHere(server, bundled), table: 'explorer.user_operations' },
    ...(python !== null && {
      'a script of an afternoon': peer(server, python, 'script.py'),
      'dlt 1.31': peer(server, python, 'dlt_pipeline.py'),
    }),
  };
  const measured = new Map<string, Run[]>(Object.keys(copies).map((name) => [name, []]));
  const world = { chain: chainOf(pages), latencyMs };
  await withExplorer(world, signal, async (explorer) => {
    for (let round = 0; round < runs; round += 1) {
      for (const [name, { copy, table }] of Object.entries(copies)) {
        const one = await server.withDatabase(async (database) => {
          await withClient(database, (client) => client.query('checkpoint'));
          const cost = await copy({ database, explorer });
          return { ...cost, rows: await digestOf(database, table) };
        });
        measured.get(name)?.push(one);
      }
    }
  });
  report(measured);
});

function copyHere({ dataDirectory }: Server, program: string): Copy {
  return async ({ database: databaseUrl, explorer: explorerUrl }) => {
    const input = { databaseUrl, dataDirectory, explorerUrl, memoryAtPages: [pages] };
    const { walkMs, nodeCpuMs, postgresCpuMs, memory } = await measureSync(input, signal, program);
    const peakRssBytes = memory.at(-1)?.peakRssBytes ?? 0;
    return { walkMs, programCpuMs: nodeCpuMs, postgresCpuMs, peakRssBytes };
  };
}

/** This program as its package brings it, in one file: the sources cost memory to strip their types. */
async function bundle(): Promise<string> {
  const root = join(import.meta.dirname, '..');
  const made = join('dist', 'bench');
  const args = ['bench/sync-process.ts', '--dir', made, '--platform', 'node', '--format', 'esm'];
  await run(join(root, 'node_modules/.bin/rolldown'), args, { cwd: root, signal });
  return join('..', made, 'sync-process.js');
}

function peer({ dataDirectory }: Server, python: string, program: string) {
  const copy: Copy = async ({ database, explorer }) => {
    const input = {
      database_url: database,
      explorer_url: explorer,
      chain_id: chainOf(0).id,
      api_key: apiKey,
      page_size: pageSize,
    };
    const before = clusterCpuMs(dataDirectory);
    const { stdout } = await run(python, [join(folder, program), JSON.stringify(input)], {
      signal,
    });
    const after = clusterCpuMs(dataDirectory);
    const postgresCpuMs = before === null || after === null ? null : after - before;
    return { ...(JSON.parse(stdout) as Omit<Cost, 'postgresCpuMs'>), postgresCpuMs };
  };
  return { copy, table: 'peer.user_operations' };
}

/** An interpreter with the peers' packages; null, and a word, where there is none. */
async function preparePython(): Promise<string | null> {
  const home = join(import.meta.dirname, '..', 'node_modules', '.cache', 'bench-peers');
  const python = join(home, 'bin', 'python');
  try {
    await run('python3', ['-m', 'venv', home], { signal });
    const requirements = join(folder, 'requirements.txt');
    await run(python, ['-m', 'pip', 'install', '--quiet', '-r', requirements], { signal });
    return python;
  } catch (error) {
    signal.throwIfAborted();
    console.log(`no peers: ${String(error).split('\n')[0]}`);
    return null;
  }
}

async function digestOf(databaseUrl: string, table: string): Promise<string> {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query<{ shown: string }>(
      `select concat(count(*), ' ', sum(hashtextextended(
         concat_ws('|', hash, block_number, fee, status, entry_point_version, transaction_hash), 0
       )::numeric)) as shown
       from ${table}`,
    ),
  );
  return rows[0]?.shown ?? '';
}

function report(measured: ReadonlyMap<string, readonly Run[]>): void {
  const rows = pages * pageSize;
  const truth = measured.get('this program')?.[0]?.rows;
  const head = [
    '',
    'rows/s',
    'µs a row: program',
    'Postgres',
    'ms a page: both',
    'of the script',
    'peak MB',
    'rows',
  ];
  const script = medianOf(measured.get('a script of an afternoon') ?? [], cpuOf);
  const lines = [...measured].map(([name, all]) => {
    const median = (shown: (one: Run) => number) => medianOf(all, shown);
    const isEqual = all.every((one) => one.rows === truth);
    if (!isEqual) process.exitCode = 1;
    const program = median((one) => one.programCpuMs);
    const postgres = median((one) => one.postgresCpuMs ?? Number.NaN);
    return [
      name,
      (rows / (median((one) => one.walkMs) / 1000)).toFixed(0),
      ((program * 1000) / rows).toFixed(0),
      ((postgres * 1000) / rows).toFixed(0),
      ((program + postgres) / pages).toFixed(1),
      Number.isNaN(script) ? '' : `${(median(cpuOf) / script).toFixed(2)} ×`,
      (median((one) => one.peakRssBytes) / 2 ** 20).toFixed(0),
      isEqual ? 'equal' : 'different',
    ];
  });
  console.log(tableLines(plainLook, { head, rows: lines }).join('\n'));
}

function cpuOf(one: Run): number {
  return one.programCpuMs + (one.postgresCpuMs ?? Number.NaN);
}

function medianOf(all: readonly Run[], shown: (one: Run) => number): number {
  return all.map(shown).toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
}
