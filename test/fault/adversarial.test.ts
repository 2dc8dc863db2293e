import { expect, test } from 'vitest';
import { freshDatabase } from '../harness/database.ts';
import { chosenLies } from '../harness/story-lies.ts';
import { describeEnding, isWell, playStories } from '../harness/story.ts';

/** For a hang, not for a pace: they take two minutes where nothing else runs, in ms. */
const testBoundMs = 1_800_000;
/** At once: while one waits for its database another one can think. */
const players = 4;

// `npm run bench adversarial -- --runs 5000` plays many more.
test(
  'whatever a service lies, what verify calls complete is true, and all is well when it is honest again',
  { timeout: testBoundMs },
  async () => {
    const seeds = Array.from({ length: 200 }, (_, index) => index + 1);
    const databases = await Promise.all(Array.from({ length: players }, () => freshDatabase()));

    const endings = await playStories({
      databaseUrls: databases.map(({ url }) => url),
      seeds,
      lies: chosenLies(null),
    });

    const played = endings.reduce((sum, ending) => sum + ending.played.length, 0);
    const ms = endings.reduce((sum, ending) => sum + ending.ms, 0) / seeds.length;
    process.stderr.write(`${seeds.length} stories, ${played} lies, ${Math.round(ms)} ms a story\n`);
    expect(played).toBeGreaterThan(seeds.length);
    const bad = endings.filter((ending) => !isWell(ending));
    expect(bad.map((ending) => describeEnding(ending, null)).join('\n')).toBe('');
  },
);
