import { test } from 'vitest';
import { boundMs, expectWellFrom } from './adversarial.ts';

/** More stories, or others; the long suite plays those after them. */
const { STORIES: stories = '12', STORY_SEED: first = '1' } = process.env;

test(
  'whatever a service lies, what verify calls complete is true, and all is well when it is honest again',
  { timeout: boundMs(Number(stories)) },
  () => expectWellFrom(Number(first), Number(stories)),
);
