import { expect, test } from 'vitest';
import { chosenLies } from '../liar/lies.ts';
import { describeEnding, isWell, playStories } from '../liar/play.ts';
import { freshDatabase } from '../support/database.ts';

/** `npm run liar -- --runs 5000` plays more of them. */
const stories = 60;
/** At once: while one waits for its database another one can think. */
const players = 2;

/** For a hang, not for a pace: they take a minute where nothing else runs, in ms. */
const testBoundMs = 1_800_000;

test(
  'whatever a service lies, what verify calls complete is true, and all is well when it is honest again',
  { timeout: testBoundMs },
  async () => {
    const databases = await Promise.all(Array.from({ length: players }, () => freshDatabase()));
    const seeds = Array.from({ length: stories }, (_, index) => index + 1);

    const endings = await playStories({
      databaseUrls: databases.map(({ url }) => url),
      seeds,
      lies: chosenLies(null),
    });

    const told = endings.reduce((sum, ending) => sum + ending.told.length, 0);
    const ms = endings.reduce((sum, ending) => sum + ending.ms, 0) / stories;
    process.stderr.write(`${stories} stories, ${told} lies, ${Math.round(ms)} ms a story\n`);
    expect(told).toBeGreaterThan(stories);
    const bad = endings.filter((ending) => !isWell(ending));
    expect(bad.map((ending) => describeEnding(ending, null)).join('\n')).toBe('');
  },
);
