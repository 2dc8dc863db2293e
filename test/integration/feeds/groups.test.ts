import { expect, test } from 'vitest';
import { transact } from '../../../src/db/transaction.ts';
import { decodeItem } from '../../../src/lists/decode.ts';
import { writeNewestFirst } from '../../../src/lists/newest-first/commit.ts';
import type { PageInWalk } from '../../../src/lists/operation.ts';
import { userOperations } from '../../../src/lists/user-operations/index.ts';
import { loadPages } from '../../../src/load/load.ts';
import { freshDatabase } from '../../harness/database.ts';
import { hashOf } from '../load/loader.ts';

type Item = readonly [id: number, block: number, fee?: string];

/** A page of a live walk that meets known blocks, in order below the page before. */
function pageOf(page_id: number, items: readonly Item[], last: Item | null) {
  const rows = items.map(([id, block, fee = '1'], position) => {
    const served = { hash: hashOf(id), block_number: block, fee };
    const decoded = decodeItem(userOperations.item, served);
    if (decoded.is === 'invalid') throw new Error(decoded.reason);
    return userOperations.normalise(decoded, { chain_id: 10, page_id, scope: {}, position });
  });
  const previousLast = last && { height: last[1], key: hashOf(last[0]), page_id: page_id - 1 };
  const walk = {
    walk_id: 1,
    run_id: 1,
    chain_id: 10,
    feed: '10/user-operations',
    as_of: new Date(0).toISOString(),
    scope: {},
    floor: 1,
    page_id,
    cursor: null,
    previousLast,
    isConclusive: true,
  };
  return { walk, rows, isTopRead: true } satisfies PageInWalk;
}

const known: readonly Item[] = [
  [1, 90],
  [2, 80],
  [3, 70],
  [4, 60],
  [5, 50],
];

test.each<[string, readonly (readonly Item[])[], readonly number[], readonly number[]]>([
  [
    'shows a new item, and again with another fee',
    [
      [
        [1, 90],
        [9, 85],
        [2, 80],
      ],
      [
        [9, 85, '2'],
        [3, 70],
      ],
    ],
    [9],
    [],
  ],
  [
    'shows a new item twice alike',
    [
      [
        [1, 90],
        [9, 85],
        [2, 80],
      ],
      [
        [9, 85],
        [3, 70],
      ],
    ],
    [9],
    [],
  ],
  [
    'shows new items on each page, one of them twice',
    [
      [
        [1, 90],
        [9, 80],
        [2, 80],
      ],
      [
        [9, 80, '2'],
        [8, 75],
        [3, 70],
      ],
    ],
    [8, 9],
    [],
  ],
  [
    'shows a new item, and again at a lower block',
    [
      [
        [1, 90],
        [9, 85],
        [2, 80],
      ],
      [
        [9, 75],
        [3, 70],
      ],
    ],
    [9],
    [],
  ],
  [
    'shows a new item above what is verified, and again within it',
    [
      [
        [9, 97],
        [1, 90],
        [2, 80],
      ],
      [
        [9, 75],
        [3, 70],
      ],
    ],
    [],
    [],
  ],
  [
    'skips an item that the next page has',
    [
      [
        [1, 90],
        [3, 70],
      ],
      [
        [2, 80],
        [4, 60],
      ],
    ],
    [],
    [],
  ],
  [
    'skips an item that the page before has',
    [
      [
        [3, 70],
        [1, 90],
        [2, 80],
      ],
      [[4, 60]],
    ],
    [],
    [3],
  ],
])(
  'a walk that %s concludes the same, whether its pages share a transaction or not',
  async (_, shown, late, gone) => {
    const { db, query } = await freshDatabase();
    const pages = shown.map((items, index) =>
      pageOf(11 + index, items, shown[index - 1]?.at(-1) ?? null),
    );
    const write = (some: typeof pages) =>
      transact(db, (tx) =>
        writeNewestFirst(userOperations, tx, some, () =>
          loadPages(
            tx,
            userOperations,
            some.map(({ walk: { page_id }, rows }) => ({ page_id, rows })),
          ),
        ),
      );
    const left = [];
    for (const groups of [pages.map((page) => [page]), [pages]]) {
      await query('truncate explorer.user_operations, etl.late_arrivals, etl.feeds cascade');
      await query(
        `insert into etl.feeds (chain_id, operation, kind, settings) values (10, 'user-operations', 'newest-first', '{}')`,
      );
      await query(
        `insert into etl.coverage (feed, lane, verified) values ('10/user-operations', 'live', '{[1,95)}')`,
      );
      const { rows } = pageOf(1, known, null);
      await transact(db, (tx) => loadPages(tx, userOperations, [{ page_id: 1, rows }]));
      for (const group of groups) await write(group);
      left.push({
        rows: await query(
          'select hash, fee, removed_at is null as is_listed from explorer.user_operations order by 1',
        ),
        late: await query('select key, height, page_id from etl.late_arrivals order by 1'),
      });
    }
    const [apart, together] = left;
    expect(together).toEqual(apart);
    expect(together?.late.map(({ key }) => key)).toEqual(late.map(hashOf));
    expect(together?.rows.filter(({ is_listed }) => !is_listed).map(({ hash }) => hash)).toEqual(
      gone.map(hashOf),
    );
  },
);
