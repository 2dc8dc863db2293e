import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `simulate --json`: written once it listens, while it goes on until a signal. */
export const simulateDocument = documentOf('simulate', 1, {
  url: z.string().describe('Where it listens.'),
  chains: z.array(z.int()).describe('Numbers of the chains that it serves.'),
});

/** `simulate --fault list --json`. */
export const simulateFaultsDocument = documentOf('simulate-faults', 1, {
  faults: z.array(z.string()).describe('Every name that --fault takes.'),
});
