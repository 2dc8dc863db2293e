import { credits } from '../page/credits.ts';
import { unknownPanel } from '../page/layout.ts';
import { spentHistory } from '../report/burn-down.ts';
import { isSeen } from '../report/status-document.ts';
import { readThroughput } from '../report/throughput.ts';
import { windowOfDay } from '../time-window.ts';
import { readHistory } from './histories.ts';
import type { Panel } from './panel.ts';

/** In seconds: some hundred points make a day. */
const binSeconds = 900;

/** What is left of today's credits. */
export const creditsPanel: Panel = {
  id: 'credits',
  title: 'Credits',
  render: async ({ db, status }) => {
    if (!isSeen(status)) return unknownPanel();
    const at = Date.parse(status.as_of);
    const window = windowOfDay(at, binSeconds);
    // With the day in its name: at midnight the old one is not told for another minute.
    const bins = await readHistory({ db, at, name: `credits ${window.from}` }, () =>
      readThroughput(db, window),
    );
    const { spent } = status.credits;
    return credits({ status, past: { window, ...spentHistory(window, bins, { spent, at }) } });
  },
};
