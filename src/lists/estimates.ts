import type { Estimate } from './list.ts';

/** Nothing is left to read. */
export const none: Estimate = { least: 0, likely: 0, requests: 0 };

/** So much at least; how much more is unknown. */
export const atLeast = (least: number): Estimate => ({
  least: Math.ceil(least),
  likely: null,
  requests: null,
});

/** About so much. */
export const about = (count: number): Estimate => {
  const requests = Math.ceil(count);
  return { least: requests, likely: requests, requests };
};

/** From so much to so much. */
export const upTo = (least: number, most: number): Estimate => {
  const requests = Math.ceil(most);
  const from = Math.min(Math.ceil(least), requests);
  return { least: from, likely: from === requests ? requests : null, requests };
};

/** About so much, and at most so much. */
export const likelyUpTo = (likely: number, most: number): Estimate => {
  const range = upTo(likely, most);
  return { ...range, likely: range.least };
};

export const dayMs = 86_400_000;

/** Half of a list's last page is empty, on average. */
export const halfPage = 0.5;
