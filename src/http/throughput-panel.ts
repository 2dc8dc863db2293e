import { chosenSpan } from '../page/charts/span.ts';
import { throughput } from '../page/throughput.ts';
import { readThroughput } from '../report/throughput.ts';
import { windowUpTo } from '../time-window.ts';
import { readHistory } from './histories.ts';
import type { Panel } from './panel.ts';

/** What the lanes did, and do. */
export const throughputPanel: Panel = {
  id: 'throughput',
  title: 'Throughput',
  render: async ({ db, status, query }) => {
    const at = Date.parse(status.as_of);
    const span = chosenSpan(query, 'throughput-span');
    const past = await readHistory({ db, at, name: `throughput ${span.name}` }, async () => {
      const window = windowUpTo(at, span);
      return { window, bins: await readThroughput(db, window) };
    });
    return throughput({ at, query, span, ...past });
  },
};
