import { expect, test } from 'vitest';
import { operations } from '../../../src/lists/registry.ts';
import type { WalkRow } from '../../../src/lists/tables.ts';
import { judgePage, settle } from '../../../src/sync/check.ts';
import { type PageReader, requestPage, type Step } from '../../../src/sync/page.ts';
import { freshDatabase } from '../../harness/database.ts';
import { hashOf, itemsOf, oneEach } from '../../harness/kept.ts';

/** What the list shows, and an operation below that another walk stores meanwhile. */
const [lowest, highest, below] = [21, 30, 5];

/** Operations of the blocks from one to another, highest first. */
const shown = (from: number, to: number) => {
  const others = { batches: new Map(), listed: [], counts: new Map() };
  const kept = itemsOf({ operations: oneEach(from, to), ...others }, 'user-operations');
  return kept.toReversed().map(({ printed }) => printed);
};

const walk = {
  id: 1,
  run_id: 1,
  chain_id: 10,
  operation: 'user-operations',
  feed: '10/user-operations',
  lane: 'live',
  scope: {},
  pages: 0,
} as WalkRow;

const head: Step = {
  cursor: null,
  sequence: 0,
  position: 0,
  emptyRun: 0,
  previousLast: null,
  expected: null,
  isOlder: false,
};

/** Settles the claim of a first page that the list ends with it; the operation below is stored before the second answer. */
async function settleEnd(belowIt: ReturnType<typeof shown>) {
  const { db, query } = await freshDatabase();
  let requests = 0;
  const reader: PageReader = {
    db,
    operation: operations['user-operations'],
    async fetchPage({ query: { page_token: token } }) {
      requests += 1;
      if (requests === 2) {
        await query(
          `insert into explorer.user_operations (chain_id, hash, block_number, page_id) values (10, $1, $2, 1)`,
          [hashOf(below), below],
        );
      }
      const items = token === undefined ? shown(lowest, highest) : belowIt;
      const json = { items, next_page_params: null };
      const body = Buffer.from(JSON.stringify(json));
      const at = new Date(0).toISOString();
      return { page_id: requests, at, json, body, bytes: body.length, attempts: 1, latencyMs: 1 };
    },
    pageSize: 10,
    archive: 'off',
    budget: { takePage: () => true },
    floor: () => null,
  };
  const { signal } = new AbortController();
  const context = { walk, reader, step: head, signal };
  const claim = judgePage(await requestPage(walk, reader, head, signal), context);
  return settle(claim, context);
}

test('an end is refused that rows contradict since its first answer', async () => {
  await expect(settleEnd(shown(1, below))).rejects.toThrow(
    `it ends at block ${lowest}, but items are stored below, the next at block ${below}`,
  );
});

test('an end that rows contradict since its first answer is believed if these are listed no more', async () => {
  const { end, facts } = await settleEnd([]);

  expect(end).toEqual({ is: 'end' });
  // Four answers, the last two of them with a request below.
  expect(facts.attempts).toBe(6);
});
