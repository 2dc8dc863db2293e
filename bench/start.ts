/**
 * `npm run bench start`: processor time of a start, in s: from the sources, and from the bundled file that
 * the package brings, with Node's own start beside them. The median of several runs, after one that fills
 * the compile cache. `sync` finds nothing new; Postgres' own time is not counted.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { interruptSignal } from './child.ts';
import { apiKey, chainOf, withExplorer } from './explorer.ts';
import { withServer } from './server.ts';

const runs = 5;
const pages = 10;
/** Says at exit, on a stream of its own, what the process used in all. */
const meter =
  "data:text/javascript,import{writeSync}from'node:fs';" +
  "process.on('exit',()=>{const{user,system}=process.cpuUsage();writeSync(3,String((user+system)/1e6))})";
const feed = ['--chain', String(chainOf(0).id), '--operation', 'user-operations'];

const starts: Readonly<Record<string, readonly string[]>> = {
  'node itself': ['-e', '0'],
  'sources, --version': ['src/main.ts', '--version'],
  'sources, --help': ['src/main.ts', '--help'],
  'sources, sync with nothing new': ['src/main.ts', 'sync', '--quiet', ...feed],
  'bundled, --version': ['dist/main.js', '--version'],
  'bundled, --help': ['dist/main.js', '--help'],
  'bundled, sync with nothing new': ['dist/main.js', 'sync', '--quiet', ...feed],
  'bundled, status': ['dist/main.js', 'status'],
};

const signal = interruptSignal();
await once(spawn('npm', ['run', '--silent', 'build'], { stdio: 'inherit', signal }), 'exit');
await withServer((server) =>
  withExplorer({ chain: chainOf(pages), latencyMs: 0 }, signal, ({ url: explorer }) =>
    server.withDatabase((database) => measure({ database, explorer })),
  ),
);

async function measure(urls: { readonly database: string; readonly explorer: string }) {
  const env = {
    ...process.env,
    DATABASE_URL: urls.database,
    EXPLORER_BASE_URL: urls.explorer,
    EXPLORER_API_KEY: apiKey,
  };
  for (const [what, args] of Object.entries(starts)) {
    await secondsOf(args, env);
    const all: number[] = [];
    while (all.length < runs) all.push(await secondsOf(args, env));
    const [median = Number.NaN] = all.toSorted((a, b) => a - b).slice(Math.floor(runs / 2));
    console.log(`${what}: ${median.toFixed(2)} s`);
  }
}

async function secondsOf(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, ['--import', meter, ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env,
    signal,
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [said, printed] = await Promise.all([
    text(child.stderr as Readable),
    text(child.stdio[3] as Readable),
  ]);
  const [status] = await exited;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${said}`);
  return Number(printed);
}
