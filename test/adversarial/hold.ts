import { expect } from 'vitest';
import { freshDatabase } from '../harness/database.ts';
import { chosenLies } from './lies.ts';
import { describeEnding, isWell, playStories } from './play.ts';

/** At once: while one waits for its database another one can think. */
const players = 4;

/** Plays the stories of these seeds, with every lie there is, and expects that all end well. */
export async function expectTruth(seeds: readonly number[]): Promise<void> {
  const databases = await Promise.all(Array.from({ length: players }, () => freshDatabase()));
  const endings = await playStories({
    databaseUrls: databases.map(({ url }) => url),
    seeds,
    lies: chosenLies(null),
  });
  const told = endings.reduce((sum, ending) => sum + ending.told.length, 0);
  const ms = endings.reduce((sum, ending) => sum + ending.ms, 0) / seeds.length;
  process.stderr.write(`${seeds.length} stories, ${told} lies, ${Math.round(ms)} ms a story\n`);
  expect(told).toBeGreaterThan(seeds.length);
  const bad = endings.filter((ending) => !isWell(ending));
  expect(bad.map((ending) => describeEnding(ending, null)).join('\n')).toBe('');
}
