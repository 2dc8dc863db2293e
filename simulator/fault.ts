import type { ServerResponse } from 'node:http';
import type { Answer } from './pages.ts';
import type { OperationName } from './route.ts';

/** What goes wrong with one answer. */
export type Fault = CannedFault | PageFault | WireFault;

/** An answer that the service gives in place of the true one. */
export interface CannedFault {
  readonly status: number;
  /** Text is sent as it is, as HTML; anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** A page that is made from the true one. */
interface PageFault {
  readonly page: (asked: AskedPage) => Answer;
}

/** What a wrong page is made from. */
export interface AskedPage {
  readonly url: URL;
  /** The true answer to this URL, or to another. */
  readonly serve: (url: URL) => Answer;
}

/** A true answer that goes wrong on its way. */
interface WireFault {
  readonly wire: Blow;
}

export type Blow = (wire: Wire) => void | Promise<void>;

/** What is to be sent, and where. */
export interface Wire {
  readonly response: ServerResponse;
  /** The JSON of the true answer. */
  readonly body: Buffer;
  /** How many requests came before this one. */
  readonly number: number;
  readonly signal: AbortSignal;
}

/** What a fault may depend on. */
export interface FaultRequest {
  readonly chainId: number;
  readonly operation: OperationName | 'unknown';
  readonly url: URL;
  /** How many requests came before this one. */
  readonly number: number;
  /** Unix time in ms. */
  readonly now: number;
}

/**
 * Chooses what goes wrong with a request; null: nothing does.
 *
 * @param random uniform in [0, 1), the same for the same seed and number of the request
 */
export type Faults = (request: FaultRequest, random: () => number) => Fault | null;
