import { stack } from 'd3-shape';
import { type Html, html } from '../html.ts';
import { unitsPerBin } from './chart.ts';
import { areaPath, middleOf, type Slice, stepSlices } from './marks.ts';

/** Values that stand upon each other, the first at the bottom. */
export interface Stack<Bin> {
  /** In their order. A bin that is not there is a hole. */
  readonly bins: readonly Bin[];
  /** The classes of their marks. */
  readonly names: readonly string[];
  readonly valueOf: (bin: Bin, name: string) => number;
  /** From a value to px from the top. */
  readonly toY: (value: number) => number;
}

/** Each as an area. Between bins that are neighbours it goes on, and nowhere else. */
export function stackedAreas<Bin extends { readonly bin: number }>(given: Stack<Bin>): Html[] {
  const noted = new Set(given.bins.map(({ bin }) => bin));
  return layers(given).map(({ name, parts }) =>
    areaPath(
      parts.flatMap(({ bin, bottom, top }): Slice[] => {
        const [before, after] = [noted.has(bin - 1), noted.has(bin + 1)];
        // A line from its middle to its middle has no width.
        if (!before && !after) return [...stepSlices(bin, bottom, top), null];
        return after ? [[middleOf(bin), bottom, top]] : [[middleOf(bin), bottom, top], null];
      }),
      name,
    ),
  );
}

/** Each as bars, one a bin: what is rare is seen, and no line leads there. */
export const stackedBars = <Bin extends { readonly bin: number }>(given: Stack<Bin>): Html[] =>
  layers(given).map(({ name, parts }) => {
    const bars = parts
      .filter(({ bottom, top }) => bottom > top)
      .map(
        ({ bin, bottom, top }) =>
          `M${unitsPerBin * bin},${bottom}h${unitsPerBin}V${top}h-${unitsPerBin}z`,
      );
    return html`<path class="area ${name}" d="${bars.join('')}"></path>`;
  });

/** Where each value of each name stands, in whole px; a value that there is has one at least. */
function layers<Bin extends { readonly bin: number }>({ bins, names, valueOf, toY }: Stack<Bin>) {
  const stacked = stack<Bin, string>().keys(names).value(valueOf)([...bins]);
  return stacked.map((series) => ({
    name: series.key,
    parts: series.map((part) => {
      const bottom = Math.round(toY(part[0]));
      const top = Math.round(toY(part[1]));
      const isSeen = part[1] > part[0] && top === bottom;
      return { bin: part.data.bin, bottom, top: isSeen ? Math.max(0, bottom - 1) : top };
    }),
  }));
}
