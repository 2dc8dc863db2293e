import { channel } from 'node:diagnostics_channel';
import type { FailureClass } from './failure.ts';

/** `by` identifies the engine: a process may have several. */
interface Requested {
  readonly by: object;
  readonly chain_id: number;
  readonly operation: string;
  readonly lane: 'live' | 'backfill';
}

interface Attempted extends Requested {
  readonly outcome: 'ok' | FailureClass;
  /** From sending to the last byte or the failure. */
  readonly ms: number;
  readonly credits: number;
}

interface Committed extends Pick<Requested, 'by' | 'lane'> {
  readonly feed: string;
  /** The list's own table; rows of its children and of addresses are not counted. */
  readonly table: string;
  readonly pages: number;
  /** Pages that added or changed a row. */
  readonly changing: number;
  readonly inserted: number;
  readonly changed: number;
  readonly quarantined: number;
  /** From begin to the commit's answer, retries included. */
  readonly ms: number;
}

/** Published to subscribers in the process, such as metrics. */
export const signals = {
  /** One attempt that was answered or failed; aborted attempts are not published. */
  request: signal<Attempted>('request'),
  /** A page whose attempts all failed. */
  miss: signal<Requested>('miss'),
  /** A transaction that wrote pages. */
  commit: signal<Committed>('commit'),
} as const;

/** Low modules publish without knowing subscribers; without one it costs the check of a flag. */
function signal<Message>(name: string) {
  const subscribers = channel(`explorer-etl:${name}`);
  return {
    /** Calls `message` and publishes it only if there is a subscriber. */
    publish: (message: () => Message) => {
      if (subscribers.hasSubscribers) subscribers.publish(message());
    },
    /** Calls the listener, which must not throw, until the returned function is called. */
    subscribe: (listener: (message: Message) => void) => {
      const subscriber = (message: unknown) => listener(message as Message);
      subscribers.subscribe(subscriber);
      return () => {
        subscribers.unsubscribe(subscriber);
      };
    },
  };
}
