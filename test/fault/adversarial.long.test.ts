import { test } from 'vitest';
import { boundMs, expectWellFrom } from './adversarial.ts';

/** `npm test` plays those before them. */
const first = 13;
const stories = 108;

test(
  'in a hundred stories more, what verify calls complete is true, and all is well when the service is honest again',
  { timeout: boundMs(stories) },
  () => expectWellFrom(first, stories),
);
