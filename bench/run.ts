/**
 * `npm run bench NAME [-- OPTIONS]`: one measurement. Each file says what it prints and which options it takes.
 */
const benches: Readonly<Record<string, () => Promise<unknown>>> = {
  throughput: () => import('./throughput.ts'),
  peers: () => import('./peers.ts'),
  growth: () => import('./growth.ts'),
  page: () => import('./page.ts'),
  start: () => import('./start.ts'),
};

// What follows the name are options of that bench.
const [name = ''] = process.argv.splice(2, 1);
const bench = benches[name];
if (bench === undefined) {
  console.error(`Usage: npm run bench NAME [-- OPTIONS], of ${Object.keys(benches).join(', ')}`);
  process.exitCode = 2;
} else {
  await bench();
}
