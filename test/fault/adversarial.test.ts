import { expect, test } from 'vitest';
import { freshDatabase } from '../harness/database.ts';
import { chosenLies } from './stories/lies.ts';
import { describeEnding, isWell, playStories } from './stories/story.ts';

/** More stories, others, with one lie alone, or the same lie at every request. */
const {
  STORIES: stories = '120',
  STORY_SEED: first = '1',
  STORY_LIE: lie = null,
  STORY_INSISTS: insists,
} = process.env;
const seeds = Array.from({ length: Number(stories) }, (_, index) => Number(first) + index);
/** For a hang, not for a pace: a hundred take a minute if nothing else runs, in ms. */
const testBoundMs = 1_800_000 + 9_000 * seeds.length;
/** At once: while one waits for its database another one can think. */
const players = 4;

test(
  'whatever a service lies, what verify calls complete is true, and all is well when it is honest again',
  { timeout: testBoundMs },
  async () => {
    const databases = await Promise.all(Array.from({ length: players }, () => freshDatabase()));

    const endings = await playStories({
      databaseUrls: databases.map(({ url }) => url),
      seeds,
      lies: chosenLies(lie),
      insists: insists !== undefined,
    });

    const played = endings.reduce((sum, ending) => sum + ending.played.length, 0);
    const ms = endings.reduce((sum, ending) => sum + ending.ms, 0) / seeds.length;
    process.stderr.write(`${seeds.length} stories, ${played} lies, ${Math.round(ms)} ms a story\n`);
    expect(played).toBeGreaterThan(lie === null ? seeds.length : 0);
    const bad = endings.filter((ending) => !isWell(ending));
    expect(bad.map((ending) => describeEnding(ending, lie)).join('\n')).toBe('');
  },
);
