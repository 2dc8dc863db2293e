import { statusFaults, type Fault, type Faults, type StatusFault } from '../fault.ts';
import { cursorFaults } from './cursor.ts';
import { cutFaults } from './cut.ts';
import { itemFaults } from './item.ts';
import { pageFaults } from './page.ts';
import { wireFaults } from './wire.ts';

export { redirectTo } from './wire.ts';

/** Every fault that is more than a refusal, by name; each opened one keeps its own count of pages. */
const hostileFaults = {
  ...cutFaults,
  ...wireFaults,
  ...pageFaults,
  ...cursorFaults,
  ...itemFaults,
} as const satisfies Readonly<Record<string, () => Fault>>;

export type HostileFault = keyof typeof hostileFaults;
export type FaultName = StatusFault | HostileFault;

/** All faults that have a name. */
export const faultNames: readonly FaultName[] = [
  ...(Object.keys(statusFaults) as StatusFault[]),
  ...(Object.keys(hostileFaults) as HostileFault[]),
];

/** A fault by its name; one that counts pages begins to count. */
export function openFault(name: FaultName): Fault {
  return name in hostileFaults
    ? hostileFaults[name as HostileFault]()
    : statusFaults[name as StatusFault];
}

/** A fault, and how often it happens. */
export interface FaultRate {
  readonly name: FaultName;
  /** Part of the requests, above 0 and at most 1. */
  readonly rate: number;
}

/** Each request draws for each fault in turn; the first that is drawn happens. */
export function faultsAtRates(rates: readonly FaultRate[]): Faults {
  const opened = rates.map(({ name, rate }) => ({ fault: openFault(name), rate }));
  return (_request, random) => opened.find(({ rate }) => random() < rate)?.fault ?? null;
}
