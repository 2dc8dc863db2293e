export {
  faultNames,
  faultsAtRates,
  openFault,
  redirectTo,
  statusFaults,
  type Fault,
  type FaultName,
  type FaultRate,
  type Faults,
  type HostileFault,
  type StatusFault,
} from './faults.ts';
export type { Limits } from './limit.ts';
export type { Motion } from './motion.ts';
export { demoChains, demoStart, longestList } from './presets.ts';
export {
  startSimulator,
  type OperationName,
  type SeenRequest,
  type Simulator,
  type SimulatorOptions,
} from './server.ts';
export {
  startInstantMs,
  type Family,
  type Generation,
  type Oddity,
  type SimulatedChain,
} from './world.ts';
