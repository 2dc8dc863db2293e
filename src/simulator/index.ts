export type { Family, Generation, Oddity, SimulatedChain } from './chain.ts';
export type { Disorder } from './disorder.ts';
export { startInstantMs } from './instant.ts';
export type { Motion } from './motion.ts';
export { presets } from './presets.ts';
export { startSimulator, type Simulator, type SimulatorOptions } from './server.ts';
export { quarantined, truth, truthAt, type TruthScope } from './truth.ts';
