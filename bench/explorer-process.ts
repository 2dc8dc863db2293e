/** The simulated explorer in a process of its own, until the parent hangs up. */
import { startSimulator, type Limits, type SimulatorOptions } from '../simulator/index.ts';
import { readInput, tellParent } from './child.ts';

const { requestsPerSecond, ...options } = readInput() as SimulatorOptions & Limits;
const limits = requestsPerSecond === undefined ? {} : { limits: () => ({ requestsPerSecond }) };
const simulator = await startSimulator({ ...options, ...limits });
process.once('disconnect', () => void simulator.close());
// Any message asks how many requests came.
process.on('message', () => tellParent({ requests: simulator.requests }));
tellParent({ url: simulator.url });
