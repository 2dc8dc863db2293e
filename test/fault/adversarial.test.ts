import { test } from 'vitest';
import { expectTruth } from '../adversarial/hold.ts';

/** For a hang, not for a pace: they take two minutes where nothing else runs, in ms. */
const testBoundMs = 1_800_000;

// `npm run bench adversarial -- --runs 5000` plays many more.
test(
  'whatever a service lies, what verify calls complete is true, and all is well when it is honest again',
  { timeout: testBoundMs },
  () => expectTruth(Array.from({ length: 200 }, (_, index) => index + 1)),
);
