import { test } from 'vitest';
import { expectTruth } from '../liar/hold.ts';

/** For a hang, not for a pace: they take half a minute where nothing else runs, in ms. */
const testBoundMs = 1_800_000;

// `liar.long.test.ts` plays the next ones, `npm run liar -- --runs 5000` many more.
test(
  'whatever a service lies, what verify calls complete is true, and all is well when it is honest again',
  { timeout: testBoundMs },
  () => expectTruth(Array.from({ length: 20 }, (_, index) => index + 1)),
);
