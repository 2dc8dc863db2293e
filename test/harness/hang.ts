/**
 * What has not come by then never will, in ms. Time limits of tests are for hangs alone: this is
 * some hundred times what the slowest wait takes on a quiet machine, and less than any test's own.
 */
export const hangMs = 240_000;
