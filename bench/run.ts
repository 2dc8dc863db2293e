/**
 * `npm run bench [-- --quick]`: how fast the program is on this machine, each figure beside its aim
 * and beside what the machine can do at best in the same run. Judges nothing: exit code 0.
 */
import { parseArgs } from 'node:util';
import { interruptSignal } from './interrupt.ts';
import { measureLatency } from './latency.ts';
import { describeMachine } from './machine.ts';
import { measureMemory } from './memory.ts';
import { withServer } from './server.ts';
import { drawTable, latencyFigures, memoryFigures, throughputFigures } from './table.ts';
import { measureThroughput } from './throughput.ts';

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
      ...throughputFigures(await measureThroughput(server, plan.throughput, signal)),
      ...latencyFigures(await measureLatency(server, plan.latency, signal)),
      ...memoryFigures(await measureMemory(server, plan.memory, signal)),
    ];
    console.log(drawTable(figures));
  });
} catch (error) {
  if (!signal.aborted) throw error;
  process.exitCode = 130;
}
