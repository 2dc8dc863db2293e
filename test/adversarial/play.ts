import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { prepareDatabase } from '../../src/app.ts';
import { createPool } from '../../src/db/pool.ts';
import type { ListLie } from './lies.ts';
import { startAdversarialServer } from './service.ts';
import { playStory, type Ending } from './story.ts';

export interface PlayOptions {
  /** Databases to use, whatever they hold: it is lost. One for each story that is played at the same time. */
  readonly databaseUrls: readonly string[];
  readonly seeds: readonly number[];
  readonly lies: readonly ListLie[];
  readonly insists?: boolean;
  /** Told of each story as it ends. */
  readonly onEnding?: (ending: Ending) => void;
  readonly signal?: AbortSignal;
}

/** Plays the story of each seed, as many at once as there are databases. */
export async function playStories(options: PlayOptions): Promise<Ending[]> {
  const { databaseUrls, seeds, lies, insists = false, onEnding, signal } = options;
  const left = [...seeds];
  const endings: Ending[] = [];
  await Promise.all(
    databaseUrls.map(async (databaseUrl) => {
      const pool = createPool({
        url: databaseUrl,
        max: 2,
        applicationName: 'explorer-etl adversarial',
      });
      const service = await startAdversarialServer();
      try {
        await prepare(databaseUrl, pool);
        for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
          if (signal?.aborted === true) return;
          const ending = await playStory({ databaseUrl, pool, service }, { seed, lies, insists });
          endings.push(ending);
          onEnding?.(ending);
        }
      } finally {
        await service.close();
        await pool.end();
      }
    }),
  );
  return endings.sort((a, b) => a.seed - b.seed);
}

async function prepare(url: string, pool: Pool): Promise<void> {
  const close = async () => 'left-running' as const;
  await prepareDatabase({ url, pool, db: drizzle(pool), embedded: null, close });
}

/** Whether a story ended as it should: nothing false was said, and all is well in the end. */
export const isWell = ({ falselyComplete, unhealed }: Ending) =>
  falselyComplete.length + unhealed.length === 0;

/** How many lies are shown of a story. */
const shownLies = 12;

/** What was wrong in a story, with the command that plays it again. */
export function describeEnding(ending: Ending, lie: string | null, insists = false): string {
  const flags = [...(lie === null ? [] : [`--lie ${lie}`]), ...(insists ? ['--insist'] : [])];
  const repeat = ['npm run bench adversarial -- --runs 1 --seed', ending.seed, ...flags].join(' ');
  const seen = new Set<string>();
  // What is wrong once is mostly wrong in the rounds after it too.
  const first = ending.falselyComplete.filter(({ feed, wrong }) => {
    const isNew = !seen.has(feed + wrong.join());
    seen.add(feed + wrong.join());
    return isNew;
  });
  const claims = first.map(({ feed, round, covered, wrong, told }) => {
    const ranges = covered.map(({ from, to }) => `${from} to ${to}`).join(', ') || 'nothing';
    const heard = told
      .slice(-shownLies)
      .map(({ lie: name, request, round: at }) => `    round ${at}: ${name}, requested ${request}`);
    return [
      `  round ${round}: verify says that ${feed} is complete, and covers ${ranges}`,
      ...wrong.map((what) => `    wrong: ${what}`),
      ...heard,
    ].join('\n');
  });
  const unhealed = ending.unhealed.map((what) => `  after the honest rounds: ${what}`);
  return [`seed ${ending.seed}; repeat with: ${repeat}`, ...claims, ...unhealed].join('\n');
}
