import type { StatusDocument } from '../../documents/status.ts';
import { printable } from '../../printable.ts';
import type { TimeWindow } from '../../time-window.ts';
import { listName } from '../../words/list-name.ts';
import type { Span } from '../charts/span.ts';

export type Feed = StatusDocument['feeds'][number];

/** How current a list was during one bin of a window: the worst of its minutes. Null: not known, or there is none. */
export interface FreshnessBin {
  readonly bin: number;
  readonly age_s: number | null;
  readonly lag_s: number | null;
  readonly objective_s: number | null;
  /** The age as a part of the objective of its time. */
  readonly share: number | null;
}

/** A stretch of the past, and what was noted of each feed in it. */
export interface FreshnessPast {
  readonly span: Span;
  readonly window: TimeWindow;
  readonly feeds: ReadonlyMap<string, readonly FreshnessBin[]>;
}

export interface FreshnessFacts {
  readonly status: StatusDocument;
  readonly query: URLSearchParams;
  /** Those of the status that are shown. */
  readonly feeds: readonly Feed[];
  /** How many feeds come before them. */
  readonly skipped: number;
  readonly day: FreshnessPast;
  readonly month: FreshnessPast;
}

/** So many feeds are shown at once: a page has to stay small. */
export const feedsShown = 24;

/** The feeds that a query asks for, and how many come before them. */
export function shownFeeds(
  { feeds }: StatusDocument,
  query: URLSearchParams,
): Pick<FreshnessFacts, 'feeds' | 'skipped'> {
  const asked = Math.trunc(Number(query.get('freshness-from') ?? 0));
  const skipped = asked > 0 && asked < feeds.length ? asked : 0;
  return { feeds: feeds.slice(skipped, skipped + feedsShown), skipped };
}

/** A list by its chain's name, as people read it. */
export const nameOf = ({ chain_name, operation }: Feed): string =>
  `${printable(chain_name)} ${listName(operation)}`;

/** The pattern of holes. */
export const holes = 'freshness-hole';
