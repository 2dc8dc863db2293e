import type { Estimate } from './list.ts';

/** Nothing is left to read. */
export const none = (basis: string): Estimate => ({ requests: 0, isAtMost: false, basis });
/** Not known until something was read. */
export const unknown = (basis: string): Estimate => ({ requests: null, isAtMost: false, basis });

export const dayMs = 86_400_000;

/** Half of a list's last page is empty, on average. */
export const halfPage = 0.5;

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
/** A number as people read it. */
export const round = (value: number) => (Math.abs(value) < 10 ? fine : whole).format(value);

/** A number as Postgres spells it; null where there is none. */
export const numberOf = (value: string | number | null | undefined) =>
  value === null || value === undefined ? null : Number(value);
