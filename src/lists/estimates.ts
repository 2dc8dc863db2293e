import type { BoundReason, Estimate, EstimatePart } from './list.ts';

/** Nothing is left to read. */
export const none: Estimate = { least: 0, likely: 0, requests: 0, reason: null, parts: [] };

/** So much at least, and nothing tells how much more. */
export const atLeast = (
  least: number,
  reason: BoundReason,
  parts: readonly EstimatePart[] = [],
): Estimate => ({ least: Math.ceil(least), likely: null, requests: null, reason, parts });

/** About so much, by its parts. */
export const about = (parts: readonly EstimatePart[]): Estimate => {
  const requests = Math.ceil(sumOf(parts));
  return { least: requests, likely: requests, requests, reason: null, parts };
};

/** From so much to what its parts make, unless that is no more. */
export const upTo = (
  least: number,
  reason: BoundReason,
  parts: readonly EstimatePart[],
): Estimate => {
  const requests = Math.ceil(sumOf(parts));
  const range = { least: Math.min(Math.ceil(least), requests), requests, parts };
  if (range.least === requests) return { ...range, likely: requests, reason: null };
  return { ...range, likely: null, reason };
};

/** About so much, and at most what its parts make. */
export const likelyUpTo = (
  likely: number,
  reason: BoundReason,
  parts: readonly EstimatePart[],
): Estimate => {
  const range = upTo(likely, reason, parts);
  return { ...range, likely: range.least };
};

const sumOf = (parts: readonly EstimatePart[]) =>
  parts.reduce((sum, { count, requests_each: each }) => sum + count * (each ?? 0), 0);

export const dayMs = 86_400_000;

/** Half of a list's last page is empty, on average. */
export const halfPage = 0.5;

/** A number as Postgres spells it; null where there is none. */
export const numberOf = (value: string | number | null | undefined) =>
  value === null || value === undefined ? null : Number(value);
