import { isCancelled } from '../db/failure.ts';
import { why, type Answer } from '../page/why/why.ts';
import { readTerm } from '../report/why/term.ts';
import { findWhy, knownChains, type KnownChain } from '../report/why/why.ts';
import type { Panel, PanelRequest } from './panel.ts';

/** Which page brought a row, and what changed it since. */
export const whyPanel: Panel = {
  id: 'why',
  title: 'Why is this row here?',
  async render(request) {
    const { db, query, called } = request;
    const [what, chain] = [query.get('why-what') ?? '', query.get('why-chain') ?? ''];
    const chains = await knownChains(db);
    return why({ what, chain, chains, query }, await answerTo({ what, chain }, chains, db), called);
  },
};

async function answerTo(
  { what, chain }: { readonly what: string; readonly chain: string },
  chains: readonly KnownChain[],
  db: PanelRequest['db'],
): Promise<Answer> {
  if (what.trim() === '') return { is: 'nothing-asked' };
  const term = readTerm(what);
  if (term === null) {
    return refused(
      'This can’t be looked up. A hash is 0x and 64 hex digits, an address 0x and 40; a height or a batch number is a whole number.',
    );
  }
  const wanted = chains.filter(({ id }) => chain === '' || String(id) === chain);
  if (wanted.length === 0 && chain !== '')
    return refused('There is no such chain in this database.');
  try {
    const ids = wanted.map(({ id }) => id);
    return { is: 'found', findings: await findWhy(db, term, ids) };
  } catch (error) {
    if (!isCancelled(error)) throw error;
    return refused(
      'The database took longer than this page lets it. Try again, or choose a chain.',
    );
  }
}

const refused = (message: string): Answer => ({ is: 'refused', message });
