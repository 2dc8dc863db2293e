import { test } from 'vitest';
import { boundMs, expectWellFrom } from './adversarial.ts';

/** `npm test` plays those before them. */
const first = 7;
const stories = 30;

test(
  'in dozens more stories, verify calls nothing complete that is not, and every feed recovers with the service',
  { timeout: boundMs(stories) },
  () => expectWellFrom(first, stories),
);
