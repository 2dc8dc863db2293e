export type { Family, Generation, Oddity, SimulatedChain } from './chain.ts';
export { presets } from './presets.ts';
export { startSimulator, type Simulator, type SimulatorOptions } from './server.ts';
export { quarantined, truth, type TruthScope } from './truth.ts';
