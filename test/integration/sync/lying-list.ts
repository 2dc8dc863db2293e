import { expect } from 'vitest';
import { followCopied, followLists, type SyncRun } from '../../harness/sync.ts';
import { hashOf, oneEach, type Page } from '../../harness/kept.ts';

export const pageSize = 10;

/** A list of twenty pages. */
export const pages = 20;

/** The list's true end is requested once more where nothing supports it. */
export const forTheEnd = 1;

/** The cursor of the page that begins with a block of such a list. */
export const tokenOf = (block: number) => `${block},${hashOf(block)}`;

/** The same page with its items the other way round. */
export const reversed = ({ items, ...page }: Page) => ({
  ...page,
  items: items.toReversed(),
});

/** Of its own: tests add to it. */
const usualList = () => oneEach(1, pages * pageSize);

/** A list of operations, and a database that follows it. */
export const lyingList = async (operations = usualList()) =>
  watched(await followLists({ operations }, { pageSize }));

/** A list of operations, and a database that has a copy of it, of a sync with `first`. */
export const copiedList = async (first: Partial<SyncRun> = {}, operations = usualList()) =>
  watched(await followCopied({ operations }, { pageSize }, first));

function watched(copy: Awaited<ReturnType<typeof followLists>>) {
  const { list, query, open, reports } = copy;
  /** Operations that are listed and not stored, or stored in another block, or as removed. */
  const lost = async (): Promise<number> => {
    const rows = await query(
      'select block_number, hash from explorer.user_operations where removed_at is null',
    );
    const held = new Set(rows.map(({ block_number, hash }) => `${block_number} ${hash}`));
    return list.operations.filter(({ block, id }) => !held.has(`${block} ${hashOf(id)}`)).length;
  };
  return {
    ...copy,
    /** @returns how many requests it took */
    sync: async (run: Partial<SyncRun> = {}) => (await copy.sync(run)).requests,
    lost,
    gaps: () => query('select from_block::int, to_block::int from explorer.gaps order by 1'),
    removed: async (): Promise<string[]> =>
      (await query('select hash from explorer.user_operations where removed_at is not null')).map(
        ({ hash }) => hash,
      ),
    /** What `verify` says is covered, as `from to to`. */
    covered: async () =>
      (await reports()).flatMap((feed) => feed.covered.map(({ from, to }) => `${from} to ${to}`)),
    expectComplete: async () =>
      expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 }),
    /** Something may be missing where that is said. */
    expectNothingHidden: async () =>
      expect({ open: await open(), lost: await lost() }).not.toEqual({
        open: [],
        lost: expect.toSatisfy((count: number) => count > 0),
      }),
  };
}
