const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** A column for each value, the largest the highest; a blank where there is none. */
export function sparkline(values: readonly (number | null)[]): string {
  const highest = Math.max(0, ...values.map((value) => value ?? 0));
  return values
    .map((value) => {
      if (value === null) return ' ';
      const level = highest === 0 ? 0 : Math.round((value / highest) * (levels.length - 1));
      return levels[level] ?? levels[0];
    })
    .join('');
}
