import { describe, expect, test } from 'vitest';
import { hashOf } from '../../harness/listed-operations.ts';
import { lyingList, oneEach, pageSize } from './lying-list.ts';

const pages = 20;
const rows = pages * pageSize;
/** The first page that is answered falsely, counted from the head; 150 of 200 rows are not reached. */
const falsePage = 6;
const named = rows - (falsePage - 1) * pageSize;
const tokenOf = (block: number) => `${block},${hashOf(block)}`;

/** One request is answered four times before it counts as failed. */
const answers = 4;
/** The list's true end is requested once more where nothing supports it. */
const forTheEnd = 1;

describe('a page without the field next_page_params', () => {
  const lacksField = async () => {
    const world = await lyingList(oneEach(1, rows));
    world.service.lie = ({ items }, token) => (token === tokenOf(named) ? { items } : null);
    return world;
  };

  test('is malformed: it is requested again, and ends no list however often it comes', async () => {
    const { sync, open } = await lacksField();

    const requests = await sync();

    expect(await open()).toEqual(expect.arrayContaining([expect.stringContaining('degraded')]));
    expect((await open()).join()).toMatch(/envelope-invalid: .*no field next_page_params/u);
    expect(requests).toBe(falsePage - 1 + answers);
  });

  test('costs one request where it comes once', async () => {
    const { service, sync, open, lost } = await lyingList(oneEach(1, rows));
    service.lieOnce(falsePage, ({ items }) => ({ items }));

    const requests = await sync();

    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
    expect(requests).toBe(pages + 1 + forTheEnd);
  });

  test('is read when it has the field again', async () => {
    const { service, sync, open, lost } = await lacksField();
    await sync();
    service.lie = () => null;

    await sync();

    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  });
});

describe('an empty page at a cursor that names an operation', () => {
  const emptyAtCursor = async () => {
    const world = await lyingList(oneEach(1, rows));
    world.service.lie = (_page, token) =>
      token === tokenOf(named) ? { items: [], next_page_params: null } : null;
    return world;
  };

  test('is no end of the list, however often it is repeated', async () => {
    const { sync, open } = await emptyAtCursor();

    const requests = await sync();
    const first = await open();
    await sync();

    expect(first.join()).toContain(`truncated: HTTP 200, it lists nothing from block ${named} on`);
    expect(requests).toBe(falsePage - 1 + answers);
    expect(await open()).toContain('blocks 0 to 151: not downloaded');
  });

  test('is read when the service lists the operation again', async () => {
    const { service, sync, open, lost } = await emptyAtCursor();
    await sync();
    service.lie = () => null;

    await sync();

    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  });

  test('leaves nothing open where all from there on has really left, at the next sync', async () => {
    const { list, sync, open, lost } = await lyingList(oneEach(1, rows));
    list.onRequest = (token) => {
      if (token === tokenOf(named)) {
        list.operations = list.operations.filter(({ block }) => block > named);
      }
      return null;
    };
    await sync();
    expect(await open()).not.toEqual([]);

    await sync();

    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  });
});

describe('a list that ends above stored operations for a while', () => {
  const shorter = 0.6 * rows;

  async function truncated(left: number) {
    const world = await lyingList(oneEach(1, rows));
    await world.sync();
    const all = world.list.operations;
    world.list.operations = all.filter(({ block }) => block > rows - left);
    const removed = () =>
      world.query('select from explorer.user_operations where removed_at is not null');
    return { ...world, all, removed };
  }

  test('removes none of them where they are more than a page, and the feed is open', async () => {
    const { sync, open, removed } = await truncated(shorter);

    const requests = await sync({ again: true });

    expect(await removed()).toEqual([]);
    expect((await open()).join()).toMatch(
      /truncated: .*it ends at block 81, but more than 10 items are stored below/u,
    );
    expect(requests).toBe(shorter / pageSize + answers - 1);
  });

  test('removes none of them where the page at its end is out of order at first', async () => {
    const { service, sync, open, removed } = await truncated(shorter + 3);
    service.lieOnce(shorter / pageSize + 1, ({ items, ...page }) => ({
      ...page,
      items: items.toReversed(),
    }));

    await sync({ again: true });

    expect(await removed()).toEqual([]);
    expect((await open()).join()).toMatch(/truncated: .*it ends at block 78/u);
  });

  test('is read again when it is whole, and then nothing is open', async () => {
    const { list, all, sync, open, lost, removed } = await truncated(shorter);
    await sync({ again: true });
    list.operations = all;

    await sync({ again: true });

    expect(await removed()).toEqual([]);
    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  });

  test('has ended there where a person marks the others as removed', async () => {
    const { query, sync, open, removed } = await truncated(shorter);
    await sync({ again: true });
    await query(
      `update explorer.user_operations set removed_at = now()
       where chain_id = 10 and block_number < 81 and removed_at is null`,
    );

    await sync({ again: true });

    expect(await removed()).toHaveLength(rows - shorter);
    expect(await open()).toEqual([]);
  });

  test('removes a page of them at most, and has them back when it is read whole', async () => {
    const { list, all, sync, open, lost, removed } = await truncated(rows - pageSize);
    await sync({ again: true });
    expect(await removed()).toHaveLength(pageSize);
    list.operations = all;

    await sync({ again: true });

    expect(await removed()).toEqual([]);
    expect({ open: await open(), lost: await lost() }).toEqual({ open: [], lost: 0 });
  });
});
