import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `init --json`. */
export const initDocument = documentOf('init', 1, {
  file: z.string().describe('The configuration file that was written.'),
  chains: z.array(z.int()).describe('Numbers of the chains in it.'),
  unknown_chains: z
    .array(z.int())
    .describe('Those of them that the program does not know: the explorer may not serve them.'),
});

export type InitDocument = z.infer<typeof initDocument>;
