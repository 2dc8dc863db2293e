import { exitCodes } from './context.ts';

/** How a command ended, as its document tells it. */
export const exits = {
  done: { code: exitCodes.done, reason: 'done' },
  open: { code: exitCodes.failed, reason: 'open' },
  failed: { code: exitCodes.failed, reason: 'failed' },
  wrongUse: { code: exitCodes.wrongUse, reason: 'wrong-use' },
  interrupted: { code: exitCodes.interrupted, reason: 'interrupted' },
} as const;
