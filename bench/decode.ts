import { parseArgs } from 'node:util';
import { parseBody } from '../src/explorer/body.ts';
import { operations, type OperationName } from '../src/operations/index.ts';
import type { ListOrder } from '../src/operations/operation.ts';
import { startSimulator } from '../simulator/index.ts';
import { judgeOrder } from '../src/walk/order.ts';
import { toldPlaces } from '../src/walk/places.ts';
import { normalisePage } from '../src/walk/page.ts';

/**
 * What a page of 50 items costs until it is rows, in µs: `node bench/decode.ts [--rounds 2000]`.
 * The least of many short runs, since other programs run too; Node's own parse stands beside it.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '2000' } } });
const rounds = Number(values.rounds);
/** So few at once that some runs are not interrupted. */
const atOnce = 3;

const key = 'decode-bench';
const simulator = await startSimulator({
  seed: 1,
  apiKey: key,
  chains: [
    {
      id: 10,
      name: 'optimism',
      family: 'optimism',
      generation: 'v12',
      userOperations: 50,
      factories: 50,
      batches: { first: 1, count: 1, blocks: 50 },
    },
  ],
});

const paths = {
  'user-operations': 'proxy/account-abstraction/operations?page_size=50',
  'optimism-batch-blocks': 'blocks/optimism-batch/1?items_count=50',
  factories: 'proxy/account-abstraction/factories?page_size=50',
} as const;

const facts = {
  page_id: 1,
  sequence: 0,
  cursor_in: null,
  cursor_out: null,
  items: 50,
  bytes: 0,
  body_hash: '',
  attempts: 1,
  latency_ms: 1,
  fetched_at: '2026-01-01T00:00:00Z',
};
const place = { chain_id: 10, scope: { batch: 1 }, position: 0, order: null, misplaced: [] };

const borders = { above: null, entry: null, isEntryAbove: false, next: null };

// All at first: connections would be closed meanwhile.
const pages: [OperationName, Buffer][] = [];
for (const [name, path] of Object.entries(paths)) {
  const answer = await fetch(`${simulator.url}/10/api/v2/${path}&apikey=${key}`);
  pages.push([name as OperationName, Buffer.from(await answer.arrayBuffer())]);
}
await simulator.close();

for (const [name, body] of pages) {
  const operation = operations[name];
  const { items } = parseBody(body) as { items: unknown[] };
  // One number that a double does not hold: all of the page's numbers are read with their source.
  const long = Buffer.from(body.toString().replace('{', '{"long":187125856691380123456,'));
  const figures = {
    'JSON.parse': least(() => JSON.parse(body.toString())),
    'parsed here': least(() => parseBody(body)),
    'with a long number': least(() => parseBody(long)),
    ...(operation.order !== null && { judged: least(() => judge(operation.order, items)) }),
    'made rows': least(() => normalisePage(operation, facts, items, place)),
  };
  const spelled = Object.entries(figures).map(([what, us]) => `${what} ${us.toFixed(0)} µs`);
  process.stdout.write(
    `${name}, ${items.length} items, ${body.length} bytes: ${spelled.join(', ')}\n`,
  );
}

/** What the next request waits for beside the parse. */
function judge(order: ListOrder | null, items: readonly unknown[]) {
  return order === null ? null : judgeOrder(toldPlaces(order, items), borders);
}

function least(work: () => unknown): number {
  const times = Array.from({ length: Math.ceil(rounds / atOnce) }, () => {
    const begun = performance.now();
    for (let round = 0; round < atOnce; round += 1) work();
    return ((performance.now() - begun) * 1000) / atOnce;
  });
  return Math.min(...times);
}
