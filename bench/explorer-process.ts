/** The simulated explorer in a process of its own, until the parent hangs up. */
import { startSimulator, type SimulatorOptions } from '../simulator/index.ts';
import { readInput, tellParent } from './child.ts';

const simulator = await startSimulator(readInput() as SimulatorOptions);
process.once('disconnect', () => void simulator.close());
tellParent({ url: simulator.url });
