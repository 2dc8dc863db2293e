import { useState } from 'preact/hooks';
import type { CoverageDocument } from '../status/endpoints.ts';
import { useJson } from './api.ts';
import { Card, Loaded } from './card.tsx';
import { Command } from './command.tsx';
import { count, counted, dateTime } from './format.ts';
import { describe, Legend, Shapes, stateWord } from './strip.tsx';

const everyMs = 15_000;
const cells = '300';
/** A click shows so much of what was shown, around where it was. */
const clickScale = 0.25;

type Range = NonNullable<CoverageDocument['window']>;
const one = { blocks: 'block', batches: 'batch', ranks: 'rank' } as const;

const positions = ({ from, to }: Range, unit: CoverageDocument['unit']): string =>
  from === to ? `${one[unit]} ${count(from)}` : `${unit} ${count(from)} to ${count(to)}`;

const times = ({ from_at: from, to_at: to }: CoverageDocument['segments' | 'gaps'][number]) =>
  from === null || to === null ? '' : `${dateTime(from)} to ${dateTime(to)} UTC`;

/** The address of a feed, with a window as wide as a part of the one shown, around a position. */
function zoomed({ feed, window, whole }: CoverageDocument, middle: number, scale: number): string {
  if (window === null || whole === null || scale === Infinity) return `#/feed/${feed}`;
  const width = Math.min(whole.to - whole.from, Math.ceil((window.to - window.from) * scale));
  const least = Math.max(whole.from, Math.round(middle - width / 2));
  const from = Math.min(least, whole.to - width);
  return `#/feed/${feed}?from=${from}&to=${from + width}`;
}

function Steps({ document }: { readonly document: CoverageDocument }) {
  const { window, whole } = document;
  if (window === null || whole === null) return null;
  const [middle, half] = [(window.from + window.to) / 2, (window.to - window.from) / 2];
  const isWhole = window.from <= whole.from && window.to >= whole.to;
  const steps = [
    ['Older', '←', middle - half, 1, window.from > whole.from],
    ['Newer', '→', middle + half, 1, window.to < whole.to],
    ['Zoom out', '−', middle, 2, !isWhole],
    ['Zoom in', '+', middle, 0.5, half >= 1],
    ['The whole list', 'All', middle, Infinity, !isWhole],
  ] as const;
  return (
    <nav class="row" aria-label="Zoom">
      {steps.map(([label, sign, at, scale, isPossible]) => {
        const href = isPossible ? { href: zoomed(document, at, scale) } : {};
        return (
          <a key={sign} class="button" aria-label={label} title={label} {...href}>
            {sign}
          </a>
        );
      })}
    </nav>
  );
}

/** The window as a bar: a pointer reads it, and a click zooms in. */
function Bar({
  document,
  window,
}: {
  readonly document: CoverageDocument;
  readonly window: Range;
}) {
  const { segments, unit } = document;
  const [at, setAt] = useState<number | null>(null);
  const width = window.to - window.from + 1;
  const parts = segments.map(({ from, to, state }) => ({
    from: Math.max(from, window.from) - window.from,
    to: Math.min(to, window.to) + 1 - window.from,
    state,
  }));
  const place = ({ clientX, currentTarget }: MouseEvent) => {
    const box = (currentTarget as Element).getBoundingClientRect();
    return Math.floor(window.from + (width * (clientX - box.left)) / box.width);
  };
  const under = segments.find(({ from, to }) => at !== null && from <= at && at <= to);
  return (
    <>
      <svg
        class="strip bar"
        role="img"
        aria-label={`Coverage of ${positions(window, unit)}: ${describe(parts, width)}`}
        viewBox={`0 0 ${width} 10`}
        preserveAspectRatio="none"
        onPointerMove={(event) => setAt(place(event))}
        onPointerLeave={() => setAt(null)}
        onClick={(event) => location.assign(zoomed(document, place(event), clickScale))}
      >
        <Shapes parts={parts} width={width} />
      </svg>
      <p class="axis">
        <span>{count(window.from)}</span>
        <span>{count(Math.round((window.from + window.to) / 2))}</span>
        <span>{count(window.to)}</span>
      </p>
      <p class="quiet">
        {under === undefined
          ? `${positions(window, unit)}. Click to zoom in.`
          : `${stateWord(under.state)}: ${positions(under, unit)} ${times(under)}`}
      </p>
    </>
  );
}

/** What is missing in the window, what it costs, and the command that reads it. */
const Gaps = ({ gaps, unit }: CoverageDocument) => (
  <ul class="reasons" aria-label="Gaps">
    {gaps.map((gap) => (
      <li key={gap.from}>
        <b>Gap: {positions(gap, unit)}</b>{' '}
        <span class="quiet">
          {times(gap)}
          {gap.requests !== null && ` · about ${counted(gap.requests, 'request')}`}
        </span>
        <Command text={gap.command} />
      </li>
    ))}
  </ul>
);

/** A feed's coverage by position, as far in as the address says. */
export function Coverage({ feed, query }: { feed: string; query: URLSearchParams }) {
  const window = Object.fromEntries(query);
  const answer = useJson<CoverageDocument>('coverage.json', { ...window, feed, cells }, everyMs);
  const steps = answer.data !== null && <Steps document={answer.data} />;
  return (
    <Card title="Coverage" aside={steps} tone="coverage">
      <Legend />
      <Loaded answer={answer}>
        {(document) => (
          <>
            {document.window === null ? (
              <p class="quiet">Nothing is stored yet.</p>
            ) : (
              <Bar document={document} window={document.window} />
            )}
            {document.gaps.length > 0 && <Gaps {...document} />}
          </>
        )}
      </Loaded>
    </Card>
  );
}
