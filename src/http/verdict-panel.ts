import { readFileSync } from 'node:fs';
import { verdict } from '../page/verdict.ts';
import { packageFile } from '../package-file.ts';
import { databaseSize } from '../report/database-size.ts';
import { isSeen } from '../report/status-document.ts';
import { bytes, counted } from '../terminal/numbers.ts';
import { adviceOf } from '../words/status-advice.ts';
import { summaryOf, verdicts } from '../words/status-summary.ts';
import { clock } from '../words/status-words.ts';
import type { Panel, PanelRequest } from './panel.ts';

/** How all is, in a line. */
export const verdictPanel: Panel = {
  id: 'verdict',
  title: 'Verdict',
  async render({ db, status, called }) {
    const { kind } = status.verdict;
    const [name, tone] = verdicts[kind];
    const stored = isSeen(status) ? await databaseSize(db) : null;
    const size = stored === null ? [] : [`${bytes(stored)} in the database`];
    return verdict({
      name,
      tone,
      gist: gistOf(status, called),
      summary: isSeen(status) ? summaryOf(status) : [],
      about: [...size, `version ${version()}`],
      asOf: clock(status.as_of, status.as_of),
    });
  },
};

/** The gravest reason; what is well says it by its name. */
function gistOf(status: PanelRequest['status'], called: PanelRequest['called']): string | null {
  const [gravest] = adviceOf(status);
  if (gravest === undefined || status.verdict.kind === 'healthy') return null;
  const { feeds, text } = gravest;
  const whose =
    feeds.length > 1
      ? `${counted(feeds.length, 'feed')}: `
      : feeds.map((one) => `${one}: `).join('');
  return called(`${whose}${text}`);
}

const version = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
