import { EventEmitter } from 'node:events';
import type { FailureClass } from './failure.ts';

/** `by` identifies the engine: a process may have several. */
export interface Requested {
  readonly by: object;
  readonly chain_id: number;
  readonly operation: string;
  readonly lane: 'live' | 'backfill';
}

export interface Attempted extends Requested {
  readonly outcome: 'ok' | FailureClass;
  /** From sending to the last byte or the failure. */
  readonly ms: number;
  /** 0 if the request never left. */
  readonly credits: number;
}

export interface PageCommitted extends Pick<Requested, 'by' | 'lane'> {
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

/** The explorer begins to fail, or answers again. */
export interface HostChanged {
  readonly by: object;
  readonly origin: string;
  /** Null: it answers. */
  readonly failing: { readonly failure: string; readonly problem: string } | null;
}

/** What low modules publish without knowing subscribers, such as metrics. A listener must not throw. */
export const signals = new EventEmitter<{
  /** One attempt that was answered or failed; aborted attempts are not published. */
  request: [Attempted];
  /** A page whose attempts all failed. */
  miss: [Requested];
  host: [HostChanged];
  /** A transaction that wrote pages. */
  commit: [PageCommitted];
  /** A slice that is due now. */
  queued: [];
}>();
// Each sync and each page of a process listens.
signals.setMaxListeners(0);
