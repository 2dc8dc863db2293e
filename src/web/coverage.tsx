import { useRef, useState } from 'preact/hooks';
import type { CoverageDocument } from '../status/endpoints.ts';
import { useJson, type Params } from './api.ts';
import { Card, Loaded } from './card.tsx';
import { Command } from './command.tsx';
import { count, counted, dateTime } from './format.ts';
import { describe, Legend, Shapes, stateWord } from './strip.tsx';

const everyMs = 15_000;
const cells = 300;
/** A drag of less is a click, in pixels. */
const leastDrag = 6;

type Range = NonNullable<CoverageDocument['window']>;
type Unit = CoverageDocument['unit'];

const one = { blocks: 'block', batches: 'batch', ranks: 'rank' } as const satisfies Record<
  Unit,
  string
>;

const positions = ({ from, to }: Range, unit: Unit): string =>
  from === to ? `${one[unit]} ${count(from)}` : `${unit} ${count(from)} to ${count(to)}`;

const times = ({
  from_at: from,
  to_at: to,
}: CoverageDocument['gaps' | 'segments'][number]): string =>
  from === null || to === null ? '' : `${dateTime(from)} to ${dateTime(to)} UTC`;

const address = (feed: string, range: Range | null): string =>
  `#/feed/${feed}${range === null ? '' : `?from=${range.from}&to=${range.to}`}`;

/** A window moved by a part of itself, or made half or twice as wide, within the whole. */
function stepped(window: Range, whole: Range, move: number, scale: number): Range {
  const width = Math.max(1, Math.round((window.to - window.from) * scale));
  const middle = (window.from + window.to) / 2 + move * width;
  const from = Math.max(whole.from, Math.min(Math.round(middle - width / 2), whole.to - width));
  return { from, to: Math.min(whole.to, from + width) };
}

interface WindowProps {
  readonly feed: string;
  readonly window: Range;
}

function Steps({ feed, window, whole }: WindowProps & { readonly whole: Range }) {
  const isWhole = window.from <= whole.from && window.to >= whole.to;
  const steps = [
    ['Older', '←', stepped(window, whole, -0.5, 1), window.from > whole.from],
    ['Newer', '→', stepped(window, whole, 0.5, 1), window.to < whole.to],
    ['Zoom out', '−', stepped(window, whole, 0, 2), !isWhole],
    ['Zoom in', '+', stepped(window, whole, 0, 0.5), window.to - window.from > 1],
    ['The whole list', 'All', null, !isWhole],
  ] as const;
  return (
    <nav class="steps" aria-label="Zoom">
      {steps.map(([label, sign, range, isPossible]) => (
        <a
          key={sign}
          class="button"
          aria-label={label}
          title={label}
          {...(isPossible && { href: address(feed, range) })}
        >
          {sign}
        </a>
      ))}
    </nav>
  );
}

/** The window as a bar: a pointer reads it, and a drag zooms into what it covers. */
function Bar({ feed, document, window }: WindowProps & { readonly document: CoverageDocument }) {
  const { segments, unit } = document;
  const bar = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const [start, setStart] = useState<number | null>(null);
  const width = window.to - window.from + 1;
  const parts = segments.map(({ from, to, state }) => ({
    from: Math.max(from, window.from) - window.from,
    to: Math.min(to, window.to) + 1 - window.from,
    state,
  }));
  const placeOf = ({ clientX }: PointerEvent) => {
    const box = bar.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    const part = Math.min(1, Math.max(0, (clientX - box.left) / box.width));
    return Math.min(window.to, Math.floor(window.from + part * width));
  };
  const end = (event: PointerEvent) => {
    const to = placeOf(event);
    setStart(null);
    const pixels = (bar.current?.clientWidth ?? 0) / width;
    if (start === null || Math.abs(to - start) * pixels < leastDrag) return;
    location.hash = address(feed, { from: Math.min(start, to), to: Math.max(start, to) });
  };
  const under = segments.find(({ from, to }) => at !== null && from <= at && at <= to);
  const [low, high] = [Math.min(start ?? 0, at ?? 0), Math.max(start ?? 0, at ?? 0)];
  return (
    <>
      <svg
        ref={bar}
        class="strip bar"
        role="img"
        aria-label={`Coverage of ${positions(window, unit)}: ${describe(parts, width)}`}
        viewBox={`0 0 ${width} 10`}
        preserveAspectRatio="none"
        onPointerDown={(event) => setStart(placeOf(event))}
        onPointerMove={(event) => setAt(placeOf(event))}
        onPointerUp={end}
        onPointerLeave={() => [setAt(null), setStart(null)]}
      >
        <Shapes parts={parts} width={width} />
        {start !== null && at !== null && (
          <rect class="drag" x={low - window.from} width={high - low} height={10} />
        )}
      </svg>
      <p class="axis">
        {[window.from, Math.round((window.from + window.to) / 2), window.to].map((place) => (
          <span key={place}>{count(place)}</span>
        ))}
      </p>
      <p class="quiet">
        {under === undefined
          ? `${positions(window, unit)}. Drag to zoom.`
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
        <p>
          <b>Gap: {positions(gap, unit)}</b>{' '}
          <span class="quiet">
            {times(gap)}
            {gap.requests !== null && ` · about ${counted(gap.requests, 'request')}`}
          </span>
        </p>
        <Command text={gap.command} />
      </li>
    ))}
  </ul>
);

/** A feed's coverage by position, as far in as the address says. */
export function Coverage({ feed, query }: { feed: string; query: URLSearchParams }) {
  const [from, to] = [query.get('from'), query.get('to')];
  const range: Params = from === null || to === null ? {} : { from, to };
  const answer = useJson<CoverageDocument>('coverage.json', { feed, ...range, cells }, everyMs);
  const { window = null, whole = null } = answer.data ?? {};
  const steps = window && whole && <Steps feed={feed} window={window} whole={whole} />;
  return (
    <Card title="Coverage" aside={steps} tone="coverage">
      <Legend />
      <Loaded answer={answer}>
        {(document) =>
          window === null ? (
            <p class="quiet">Nothing is stored yet.</p>
          ) : (
            <>
              <Bar feed={feed} document={document} window={window} />
              {document.gaps.length > 0 && <Gaps {...document} />}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
