import { channel } from 'node:diagnostics_channel';
import type { FailureClass } from './failure.ts';

/** Who works: engines of one process find theirs by it. */
interface Published {
  readonly by: object;
}

/** What was requested, and for whom. */
interface RequestedBy extends Published {
  readonly chain_id: number;
  readonly operation: string;
  readonly lane: 'live' | 'backfill';
}

/** A request that was answered, or failed: each attempt. One that a stop cut off is not published. */
export interface RequestSignal extends RequestedBy {
  readonly outcome: 'ok' | FailureClass;
  /** From sending to the last byte, or to the failure. */
  readonly ms: number;
  /** What it costs of the key's credits. */
  readonly credits: number;
}

/** A page that did not come: all attempts at it failed. */
export interface MissSignal extends RequestedBy {
  readonly failure: FailureClass;
}

/** A transaction that wrote pages. */
export interface CommitSignal extends Published {
  readonly feed: string;
  readonly lane: 'live' | 'backfill';
  /** The list's own table: what is written of its children and of addresses is not counted. */
  readonly table: string;
  readonly pages: number;
  /** Of them, those that added or changed a row. */
  readonly changing: number;
  readonly inserted: number;
  readonly changed: number;
  readonly quarantined: number;
  /** From its beginning to the answer of its commit, attempts that lost against others included. */
  readonly ms: number;
}

/** What happens while the program works, published to subscribers in the process, such as metrics. */
export const signals = {
  request: signal<RequestSignal>('request'),
  miss: signal<MissSignal>('miss'),
  commit: signal<CommitSignal>('commit'),
} as const;

/** Low modules publish and know no subscriber. Without one it costs the check of a flag. */
function signal<Message>(name: string) {
  const subscribers = channel(`explorer-etl:${name}`);
  return {
    /** Publishes it. `message` is called only if there is a subscriber. */
    publish: (message: () => Message) => {
      if (subscribers.hasSubscribers) subscribers.publish(message());
    },
    /** Whether there is a subscriber: without one, measuring may be left out. */
    hasSubscribers: () => subscribers.hasSubscribers,
    /**
     * Calls the listener with each message from now on. It must not throw: the process would end.
     *
     * @returns ends that
     */
    subscribe: (listener: (message: Message) => void) => {
      const subscriber = (message: unknown) => listener(message as Message);
      subscribers.subscribe(subscriber);
      return () => {
        subscribers.unsubscribe(subscriber);
      };
    },
  };
}
