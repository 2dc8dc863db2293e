import { test } from 'vitest';
import { boundMs, expectWellFrom } from './adversarial.ts';

/** More stories, or others; the long suite plays those after them. */
const { STORIES: stories = '6', STORY_SEED: first = '1' } = process.env;

test(
  'whatever false answers a service gives, verify calls nothing complete that is not, and every feed recovers with the service',
  { timeout: boundMs(Number(stories)) },
  () => expectWellFrom(Number(first), Number(stories)),
);
