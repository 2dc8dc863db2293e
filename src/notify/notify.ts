import { describeDatabaseError } from '../db/failure.ts';
import { every } from '../every.ts';
import { createLook, type LookOptions } from './look.ts';
import type { Webhook } from './post.ts';

export interface NotifyOptions extends LookOptions {
  /** Whom to tell now; null: nobody. */
  readonly webhook: () => Webhook | null;
}

/** How long it rests after a look: so many times what that took, and no longer than that, in ms. */
const rest = { times: 200, mostMs: 60_000 } as const;

/**
 * Tells the webhook, until the signal aborts, when the verdict has changed: once over all processes, at least
 * once each change that lasts, the newest alone. What was told last is in `etl.notices`. That the database is
 * away each process tells by itself.
 */
export function notifyChanges(options: NotifyOptions, signal: AbortSignal): Promise<void> {
  const { log, now, pace } = options;
  const look = createLook(options, signal);
  let dueMs = now();
  const poll = async () => {
    const webhook = options.webhook();
    if (now() < dueMs || webhook === null) return;
    const tookMs = await look(webhook);
    dueMs = now() + Math.min(rest.times * tookMs, rest.mostMs) - pace.lookMs;
  };
  return every(pace.lookMs, signal, poll, (error) => {
    if (!signal.aborted) log.tell('notify.failure', { error: describeDatabaseError(error) });
  });
}
