import { packBody } from './archive.ts';
import { timedPlaces } from './back-to.ts';
import { askAgain } from './doubt.ts';
import type { PageOrder } from './order.ts';
import { normalisePage, type NormalisedPage } from './page.ts';
import type { PageQueue } from './page-queue.ts';
import type { WalkEnd } from './progress.ts';
import { lastPlace } from '../operations/placed-list.ts';
import type { OrderKey } from '../operations/operation.ts';
import { requestPage, type PageReader, type Step } from './request.ts';
import type { WalkRow } from './walk-row.ts';

/** A page ready to be written, and whether the walk ends with it. */
export interface ReadPage {
  readonly page: NormalisedPage;
  readonly end: WalkEnd | null;
  readonly emptyRun: number;
  /** The page's body as it is to be archived; null where it is not. */
  readonly body: Buffer | null;
}

/**
 * Reads a walk's pages into the queue, from its checkpoint on. The next request leaves as soon as
 * the cursor of this page is decoded; this page becomes rows while that one is on its way. A page that
 * may be the service's mistake is asked for once more before anything is concluded (`doubt.ts`).
 *
 * @returns 'read' when the walk's end was met, 'paused' when the slice's budget was spent
 * @throws what `fetchPage` throws, and EnvelopeError; the pages before it stay in the queue
 */
export async function readPages(
  walk: WalkRow,
  reader: PageReader,
  queue: PageQueue<ReadPage>,
  signal: AbortSignal,
): Promise<'read' | 'paused'> {
  if (!reader.budget.takePage()) return 'paused';
  let step = await firstStep(walk, reader);
  let answer = requestPage(walk, reader, step, signal);
  for (;;) {
    const judged = await askAgain(await answer, { walk, reader, step, queue, signal });
    const { facts, envelope, order, emptyRun, end } = judged;
    const next: Step = {
      cursor: facts.cursor_out,
      sequence: step.sequence + 1,
      position: step.position + envelope.items.length,
      emptyRun,
      above: envelope.items.length === 0 ? step.above : lastOf(order),
      timed: [...(step.timed ?? []), ...timedPlaces(order)].slice(-reader.pageSize),
      expected: envelope.items.length === 0 ? expectedBehind(step, reader) : null,
    };
    const goesOn = end === null && reader.budget.takePage();
    if (goesOn) {
      answer = requestPage(walk, reader, next, signal);
      // It may fail before the queue has room for this page; it is awaited in the next round.
      answer.catch(() => undefined);
    }
    const page = normalisePage(reader.operation, facts, envelope.items, {
      chain_id: walk.chain_id,
      scope: walk.scope,
      position: step.position,
      order,
      // A page without a place is another page: its items are not out of order among themselves.
      misplaced: order === null || order.trusted.length === 0 ? [] : order.misplaced,
    });
    const packed = reader.archive === 'all' ? await packBody(judged.body) : null;
    const taken = await queue.push({ page, end, emptyRun, body: packed }, judged.body.length);
    if (!goesOn || !taken) return end === null ? 'paused' : 'read';
    step = next;
  }
}

/** A run that resumes goes on where the ledger says that the walk's last page ended. */
async function firstStep(walk: WalkRow, { db, operation }: PageReader): Promise<Step> {
  const { cursor, pages, items, empty_run } = walk;
  return {
    cursor,
    sequence: pages,
    position: items,
    emptyRun: empty_run,
    // Behind an empty page nobody knows any more where it was asked for: nothing is joined there.
    above:
      operation.order === null || pages === 0 || empty_run > 0
        ? null
        : await lastPlace(db, walk.id),
    timed: null,
    expected: null,
  };
}

const expectedBehind = ({ cursor, expected }: Step, { operation }: PageReader): OrderKey | null =>
  expected ?? (cursor === null ? null : (operation.order?.position(cursor) ?? null));

const lastOf = (order: PageOrder | null): OrderKey | null =>
  order?.leadsOn === true ? (order.trusted.at(-1) ?? null) : null;
