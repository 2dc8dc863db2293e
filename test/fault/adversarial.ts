import { expect } from 'vitest';
import { freshDatabase } from '../harness/database.ts';
import { chosenLies } from './stories/lies.ts';
import { describeEnding, isWell } from './stories/ending.ts';
import { playStories } from './stories/story.ts';

/** One lie alone, the same lie at every request, or more or fewer stories with plots. */
const { STORY_LIE: lie = null, STORY_INSISTS: insists, STORY_PLOTS: plotted = '50' } = process.env;
/** At once: while one waits for its database another one can think. */
const players = 4;

/** For a hang, not for a pace: a hundred stories take a minute if nothing else runs, in ms. */
export const boundMs = (stories: number): number => 1_800_000 + 9_000 * stories;

/** Plays so many stories from a seed on; nothing false may be called complete, and all must be well in the end. */
export async function expectWellFrom(first: number, stories: number): Promise<void> {
  const databases = await Promise.all(Array.from({ length: players }, () => freshDatabase()));
  const seeds = Array.from({ length: stories }, (_, index) => first + index);

  const endings = await playStories({
    databaseUrls: databases.map(({ url }) => url),
    seeds,
    lies: chosenLies(lie),
    insists: insists !== undefined,
    plotted: Number(plotted),
  });

  const played = endings.reduce((sum, ending) => sum + ending.played.length, 0);
  const ms = endings.reduce((sum, ending) => sum + ending.ms, 0) / seeds.length;
  process.stderr.write(`${seeds.length} stories, ${played} lies, ${Math.round(ms)} ms a story\n`);
  expect(played).toBeGreaterThan(lie === null ? seeds.length : 0);
  const bad = endings.filter((ending) => !isWell(ending));
  expect(bad.map((ending) => describeEnding(ending, lie)).join('\n')).toBe('');
}
