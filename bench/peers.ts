/**
 * `npm run bench peers [-- --pages 2000 --runs 3 --latency 0 --rate 10 --venvs DIRECTORY --write]`: one list copied by
 * this program, by a script of an afternoon, by dlt and by Airbyte's CDK (`bench/peers/`), in turn, on one server and
 * from one simulated explorer; again with a SIGKILL in the middle, and again at the rate of a key. Medians and spreads;
 * every row is compared. Peers are left out, with a word, where Python or its packages are not to be had. `--write`
 * puts it into docs/benchmarks.md. Judges nothing but the rows: exit code 1 where a peer's differ.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { interruptSignal } from './child.ts';
import { apiKey, chainOf, pageSize, withExplorer, type Explorer } from './explorer.ts';
import { clusterCpuMs, describeMachine } from './machine.ts';
import { slowCase, tableOf, writePage, type Cost, type Measured, type Rows } from './peers-page.ts';
import { withServer, type Server } from './server.ts';
import { measureSync } from './sync.ts';
import { withClient } from '../test/harness/client.ts';
import { plainLook, tableLines } from '../src/terminal/layout.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '2000' },
    runs: { type: 'string', default: '3' },
    latency: { type: 'string', default: '0' },
    rate: { type: 'string', default: '10' },
    venvs: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const numbers = [values.pages, values.runs, values.latency, values.rate].map(Number);
const [pages = 0, runs = 0, latencyMs = 0, rate = 0] = numbers;

/** Where a copy reads and writes. */
interface Place {
  readonly database: string;
  readonly explorer: string;
  /** What a killed run leaves beside the database. */
  readonly stateDirectory: string;
  /** 0: as fast as the explorer answers. */
  readonly requestsPerSecond: number;
}

interface Contender {
  readonly table: string;
  copy(place: Place, stop: AbortSignal): Promise<Cost>;
  /** How long it takes to find that nothing is missing, in ms; absent: it cannot. */
  verify?(database: string): Promise<number>;
}

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const folder = join(import.meta.dirname, 'peers');
const signal = interruptSignal();
/** A key's rate is held for this long: shorter, and the first second counts too much. */
const keySeconds = 20;
const killPollMs = 2;

await withServer(async (server) => {
  const machine = await describeMachine(server.url);
  console.log(machine);
  const contenders = await prepare(server);
  const measured = new Map<string, Measured[]>([...contenders.keys()].map((name) => [name, []]));
  for (let round = 0; round < runs; round += 1) {
    for (const [name, contender] of contenders) {
      measured.get(name)?.push(await measure(server, contender));
    }
  }
  const table = tableOf(measured, pages * pageSize);
  console.log(tableLines(plainLook, table).join('\n'));
  if (table.rows.some((row) => row.at(-1) !== 'equal')) process.exitCode = 1;
  if (values.write) await writePage(machine, table, { pages, runs, latencyMs, rate, keySeconds });
});

/** This program and, where Python has their packages, the peers. */
async function prepare(server: Server): Promise<ReadonlyMap<string, Contender>> {
  const contenders = new Map([['this program', await ourselves(server)]]);
  const peers = [
    ['a script of an afternoon', 'script.py', 'dlt'],
    ['dlt 1.31', 'dlt_pipeline.py', 'dlt'],
    ['Airbyte CDK 7.39', 'airbyte_copy.py', 'airbyte'],
  ] as const;
  for (const [name, program, packages] of peers) {
    const python = await preparePython(packages);
    if (python !== null) contenders.set(name, peer(server, python, program));
  }
  return contenders;
}

/** A copy at full speed, one that is killed in its middle, one at a key's rate, one with nothing to do, and a slow one. */
async function measure(server: Server, contender: Contender): Promise<Measured> {
  const { table } = contender;
  const copied = await withPlace(server, { of: pages, latencyMs }, async (place, requests) => {
    const cost = await contender.copy(place, signal);
    const verifyMs = (await contender.verify?.(place.database)) ?? null;
    return { ...cost, verifyMs, requests: await requests(), rows: await digestOf(place, table) };
  });
  const killed = await withPlace(server, { of: pages, latencyMs }, async (place, requests) => {
    await killHalfway(contender, place, requests);
    await contender.copy(place, signal);
    return { requests: await requests(), rows: await digestOf(place, table) };
  });
  const keyPages = keySeconds * rate;
  const atRate = { of: keyPages, latencyMs: Math.max(latencyMs, 20), rate };
  const key = await withPlace(server, atRate, (place) => contender.copy(place, signal));
  const keyShare = keyPages / (rate * (key.walkMs / 1_000));
  const nothingNewMs = await withPlace(server, { of: 1, latencyMs }, async (place) => {
    await contender.copy(place, signal);
    const before = clusterCpuMs(server.dataDirectory) ?? Number.NaN;
    const { processCpuMs } = await contender.copy(place, signal);
    return processCpuMs + (clusterCpuMs(server.dataDirectory) ?? Number.NaN) - before;
  });
  const { pages: of, latencyMs: slowMs } = slowCase;
  const slowWorld = { of, latencyMs: slowMs };
  const slow = await withPlace(server, slowWorld, (place) => contender.copy(place, signal));
  return { copied, killed, keyShare, nothingNewMs, slow };
}

/** Kills a copy once half of the list was requested. */
async function killHalfway(contender: Contender, place: Place, requests: () => Promise<number>) {
  const stop = new AbortController();
  const stopped = new AbortController();
  const first = contender
    .copy(place, AbortSignal.any([signal, stop.signal]))
    .then(() => undefined)
    .catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    })
    .finally(() => stopped.abort());
  while (!stopped.signal.aborted && (await requests()) < pages / 2) await delay(killPollMs);
  stop.abort();
  await first;
}

interface World {
  /** Pages of the list. */
  readonly of: number;
  readonly latencyMs: number;
  /** What the explorer allows and the copy may use, in requests per second; absent: no limit. */
  readonly rate?: number;
}

async function withPlace<Result>(
  server: Server,
  { of, rate: requestsPerSecond = 0, ...world }: World,
  use: (place: Place, requests: Explorer['requests']) => Promise<Result>,
): Promise<Result> {
  const limit = requestsPerSecond === 0 ? {} : { requestsPerSecond };
  const stateDirectory = await mkdtemp(join(tmpdir(), 'explorer-etl-peer-'));
  try {
    return await withExplorer({ chain: chainOf(of), ...world, ...limit }, signal, (explorer) =>
      server.withDatabase(async (database) => {
        await withClient(database, (client) => client.query('checkpoint'));
        const place = { database, explorer: explorer.url, stateDirectory, requestsPerSecond };
        return use(place, explorer.requests);
      }),
    );
  } finally {
    await rm(stateDirectory, { recursive: true, force: true });
  }
}

/** This program as its package brings it, in one file: the sources cost memory to strip their types. */
async function ourselves({ dataDirectory }: Server): Promise<Contender> {
  const made = join('dist', 'bench');
  const args = ['bench/sync-process.ts', '--dir', made, '--platform', 'node', '--format', 'esm'];
  await run(join(root, 'node_modules/.bin/rolldown'), args, { cwd: root, signal });
  const program = join('..', made, 'sync-process.js');
  const copy: Contender['copy'] = async ({ database, explorer, requestsPerSecond }, stop) => {
    const memoryAtPages = requestsPerSecond === 0 ? [pages] : [];
    const input = { databaseUrl: database, dataDirectory, explorerUrl: explorer, memoryAtPages };
    const limited = requestsPerSecond === 0 ? input : { ...input, requestsPerSecond };
    const { nodeCpuMs, memory, ...cost } = await measureSync(limited, stop, program);
    const peakRssBytes = memory.at(-1)?.peakRssBytes ?? 0;
    return { ...cost, programCpuMs: nodeCpuMs, peakRssBytes };
  };
  const verify = async (database: string) => {
    const begun = performance.now();
    // Exit code 0: nothing is missing.
    await run(process.execPath, ['src/main.ts', 'verify'], {
      cwd: root,
      env: { ...process.env, DATABASE_URL: database },
      signal,
    });
    return performance.now() - begun;
  };
  return { table: 'explorer.user_operations', copy, verify };
}

function peer({ dataDirectory }: Server, python: string, program: string): Contender {
  const copy: Contender['copy'] = async (place, stop) => {
    const input = {
      database_url: place.database,
      explorer_url: place.explorer,
      chain_id: chainOf(0).id,
      api_key: apiKey,
      page_size: pageSize,
      state_dir: place.stateDirectory,
      requests_per_second: place.requestsPerSecond,
    };
    const before = clusterCpuMs(dataDirectory);
    const args = [join(folder, program), JSON.stringify(input)];
    const { stdout } = await run(python, args, { signal: stop, killSignal: 'SIGKILL' });
    const after = clusterCpuMs(dataDirectory);
    const postgresCpuMs = before === null || after === null ? null : after - before;
    const line = stdout.trim().split('\n').at(-1) ?? '';
    return { ...(JSON.parse(line) as Omit<Cost, 'postgresCpuMs'>), postgresCpuMs };
  };
  return { table: 'peer.user_operations', copy };
}

/** An interpreter with a peer's packages, of `--venvs` or made here; null, and a word, where there is none. */
async function preparePython(packages: string): Promise<string | null> {
  const cache = join(root, 'node_modules', '.cache', 'bench-peers');
  const home = join(values.venvs ?? cache, packages);
  const python = join(home, 'bin', 'python');
  if (values.venvs !== undefined) return python;
  try {
    await run('python3', ['-m', 'venv', home], { signal });
    const requirements = join(folder, `requirements-${packages}.txt`);
    await run(python, ['-m', 'pip', 'install', '--quiet', '-r', requirements], { signal });
    return python;
  } catch (error) {
    signal.throwIfAborted();
    console.log(`no ${packages}: ${String(error).split('\n')[0]}`);
    return null;
  }
}

async function digestOf({ database }: Place, table: string): Promise<Rows> {
  const { rows } = await withClient(database, (client) =>
    client.query<Rows>(
      `select count(*)::float8 as all, count(distinct hash)::float8 as distinct,
         coalesce(sum(hashtextextended(
           concat_ws('|', hash, block_number, fee, status, entry_point_version, transaction_hash), 0
         )::numeric), 0)::text as digest
       from ${table}`,
    ),
  );
  return rows[0] ?? { all: 0, distinct: 0, digest: '' };
}
