/**
 * `npm run bench chaos -- --minutes N --seed S [--workers K]`: for so long workers follow
 * a chain that moves while they are killed and stopped, their database is cut off and broken, and the
 * explorer fails and changes its limits; then all must be as if nothing had been. Exit code 1 when it is not, with the command that repeats it.
 */
import { parseArgs } from 'node:util';
import { interruptSignal } from '../../bench/child.ts';
import { withServer } from '../../bench/server.ts';
import { withEnds } from './ending.ts';
import { runChaos } from './chaos.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '3' },
  },
});

const signal = interruptSignal();
const repeat = `npm run bench chaos -- --minutes ${values.minutes} --seed ${values.seed} --workers ${values.workers}`;

try {
  await withServer((server) =>
    server.withDatabase(async (databaseUrl) => {
      const plan = {
        databaseUrl,
        seed: Number(values.seed),
        lengthMs: Number(values.minutes) * 60_000,
        workers: Number(values.workers),
        restartServer: () => server.restart(),
        signal,
      };
      const { faults: found, ...seen } = await withEnds(() => runChaos(plan));
      console.log(JSON.stringify(seen, null, 2));
      const { busiestSecond, limit } = seen;
      const isExceeded = busiestSecond > limit + 1;
      const faults = { ...found, ...(isExceeded && { 'budget exceeded': busiestSecond }) };
      if (Object.keys(faults).length === 0) {
        console.log('all tables equal the truth, verify exits 0, and the budget was kept');
        return;
      }
      console.error(JSON.stringify(faults, null, 2));
      console.error(`repeat with: ${repeat}`);
      process.exitCode = 1;
    }),
  );
} catch (error) {
  if (!signal.aborted) {
    console.error(`repeat with: ${repeat}`);
    throw error;
  }
  process.exitCode = 130;
}
