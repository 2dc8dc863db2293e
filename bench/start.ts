/**
 * `npm run bench:start`: processor time of a start, in s: from the sources, and from the bundled file that
 * the package brings, with Node's own start beside them. The median of several runs, after one that fills
 * the compile cache.
 */
import { spawnSync } from 'node:child_process';

const runs = 5;
/** Says at exit, on a stream of its own, what the process used in all. */
const meter =
  "data:text/javascript,import{writeSync}from'node:fs';" +
  "process.on('exit',()=>{const{user,system}=process.cpuUsage();writeSync(3,String((user+system)/1e6))})";

const starts: Readonly<Record<string, readonly string[]>> = {
  'node itself': ['-e', '0'],
  'sources, --version': ['src/main.ts', '--version'],
  'bundled, --version': ['dist/main.js', '--version'],
  'bundled, --help': ['dist/main.js', '--help'],
};

spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
for (const [what, args] of Object.entries(starts)) {
  secondsOf(args);
  const all = Array.from({ length: runs }, () => secondsOf(args)).toSorted((a, b) => a - b);
  console.log(`${what}: ${all[Math.floor(runs / 2)]?.toFixed(2)} s`);
}

function secondsOf(args: readonly string[]): number {
  const { output, status } = spawnSync(process.execPath, ['--import', meter, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
  return Number(output[3]);
}
