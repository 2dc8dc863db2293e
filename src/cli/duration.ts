const fine = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** Largest first; a day is where hours stop telling anything. */
const units = [
  ['days', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** A time in the unit that tells most; `unknown` where there is none. */
export function duration(seconds: number | null): string {
  if (seconds === null) return 'unknown';
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['s', 1];
  return `${fine.format(seconds / size)} ${unit}`;
}
