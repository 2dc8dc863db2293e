/**
 * `npm run bench:takeover [-- --kills 100 --zombies 20]`: how soon a lane goes on whose worker is
 * killed, or stopped, and whether one that wakes up afterwards writes. Exit code 1 if it did.
 */
import { parseArgs } from 'node:util';
import { measureTakeovers } from '../test/chaos/takeover.ts';
import { interruptSignal } from './interrupt.ts';
import { withServer } from './server.ts';
import { drawTable, type Figure } from './table.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    zombies: { type: 'string', default: '20' },
  },
});

const signal = interruptSignal();

const at = (sortedMs: readonly number[], part: number) =>
  `${Math.round(sortedMs[Math.floor((sortedMs.length - 1) * part)] ?? 0)} ms`;

function figure(what: string, sortedMs: readonly number[], aim: string): Figure {
  return {
    name: `slowest takeover of ${sortedMs.length} from ${what} workers`,
    measured: at(sortedMs, 1),
    aim,
    floor: `${at(sortedMs, 0.5)} the median`,
  };
}

try {
  await withServer((server) =>
    server.withDatabase(async (databaseUrl) => {
      const plan = { databaseUrl, kills: Number(values.kills), zombies: Number(values.zombies) };
      const seen = await measureTakeovers({ ...plan, signal });
      const zombies = {
        name: `writes of ${seen.zombies} zombies`,
        measured: String(seen.wrongWrites.length),
        aim: '0',
        floor: '',
      };
      console.log(
        drawTable([
          figure('killed', seen.killsMs, 'at most 3000 ms'),
          figure('stopped', seen.stopsMs, 'at most 3000 ms'),
          zombies,
        ]),
      );
      if (seen.wrongWrites.length === 0 && Object.keys(seen.faults).length === 0) return;
      console.error(JSON.stringify({ wrongWrites: seen.wrongWrites, ...seen.faults }, null, 2));
      process.exitCode = 1;
    }),
  );
} catch (error) {
  if (!signal.aborted) throw error;
  process.exitCode = 130;
}
