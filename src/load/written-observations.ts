import { hash } from 'node:crypto';
import type { AddressObservation } from '../address/observe.ts';

/** Addresses remembered at most: some 100 bytes each. */
const mostAddresses = 200_000;

/**
 * What was last written of each address, to pass over an observation that tells the same again. For a sole
 * writer: what is stored has not changed since.
 *
 * Exact, since each rule of `address/merge.ts`, and a set of rows, is idempotent: what the newest
 * page of all told, told again, changes nothing, whichever page tells it. An observation that was not the
 * newest may have lost against what is stored, so it is forgotten and the next one is written.
 */
export class WrittenObservations {
  /** Digests by address, in two generations: the older one is dropped when the younger is full. */
  #young = new Map<string, string>();
  #old: ReadonlyMap<string, string> = new Map();
  #newestPage = 0;

  /** Of one observation per address, all to be written now, those that may change something. */
  unwritten(observations: readonly AddressObservation[]): AddressObservation[] {
    const newestBefore = this.#newestPage;
    return observations.filter(({ page_id, row, lists, untold, inPart }) => {
      const told = hash('md5', JSON.stringify([row, lists, untold, inPart]), 'base64');
      if ((this.#young.get(row.hash) ?? this.#old.get(row.hash)) === told) {
        this.#remember(row.hash, told);
        return false;
      }
      this.#newestPage = Math.max(this.#newestPage, page_id);
      this.#remember(row.hash, page_id > newestBefore ? told : '');
      return true;
    });
  }

  #remember(address: string, told: string): void {
    this.#young.set(address, told);
    if (this.#young.size < mostAddresses / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
