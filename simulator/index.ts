export {
  startInstantMs,
  type Disorder,
  type Family,
  type Generation,
  type Oddity,
  type SimulatedChain,
} from './world.ts';
export type { Fault, Faults } from './fault.ts';
export {
  faultNames,
  faultsAtRates,
  openFault,
  redirectTo,
  statusFaults,
  type FaultName,
  type FaultRate,
  type HostileFault,
  type StatusFault,
} from './faults.ts';
export type { Limits } from './limit.ts';
export type { Motion } from './motion.ts';
export { demoChains, demoStart, longestList } from './presets.ts';
export type { OperationName } from './route.ts';
export {
  startSimulator,
  type SeenRequest,
  type Simulator,
  type SimulatorOptions,
} from './server.ts';
