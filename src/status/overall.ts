import { isAtWork, lastPageAt, latest, type OverallFacts, reasonsOf } from './reasons.ts';
import type { FeedStatus, Reason, StatusDocument } from './schema.ts';

type Overall = StatusDocument['overall'];

/** The overall state, by the reasons, the most severe first. Pure. */
export function overallOf(reasons: readonly Reason[], facts: OverallFacts): Overall {
  const of = (severity: Reason['severity']) => reasons.find((one) => one.severity === severity);
  const action = of('action');
  if (action !== undefined) return headline('action-required', action, facts);
  const stopped = reasons.find((one) => stops(one, facts));
  if (stopped !== undefined) return headline('stopped', stopped, facts);
  const warning = of('warning');
  if (warning !== undefined) return headline('degraded', warning, facts);
  const info = reasons.find(({ code }) => code === 'reading') ?? of('info');
  if (info !== undefined) return headline('syncing', info, facts);
  const sentence = 'All feeds are current and complete.';
  return { state: 'healthy', sentence, since: null, command: null };
}

/** Whether no page comes until a worker starts. */
function stops({ code, feeds, severity }: Reason, facts: OverallFacts): boolean {
  if (isAtWork(facts)) return false;
  if (code === 'paused') return true;
  if (facts.workers === null) return false;
  return (
    code === 'no-worker' ||
    (code === 'pending' &&
      severity !== 'info' &&
      (feeds.length === 0 || feeds.length === facts.feeds.length))
  );
}

/** The banner: the reason, with its feeds unless it concerns all. */
function headline(state: Overall['state'], reason: Reason, { feeds: all }: OverallFacts): Overall {
  const { code, feeds, sentence, command } = reason;
  const isOfAll =
    feeds.length === 0 ||
    feeds.length === all.length ||
    code === 'reading' ||
    (code === 'no-worker' && state === 'stopped');
  const some = feeds.length === 1 ? feeds[0] : `${feeds.length} of ${all.length} feeds`;
  const text = isOfAll ? sentence : `${some}: ${sentence}`;
  return { state, sentence: text, since: sinceOf(reason, all), command };
}

/** Since when; null: unknown. */
function sinceOf({ code, feeds: concerned }: Reason, feeds: readonly FeedStatus[]): string | null {
  if (code === 'no-worker' || code === 'paused') return lastPageAt(feeds);
  if (code !== 'source-silent') return null;
  const those = feeds.filter(({ feed }) => concerned.includes(feed));
  return latest(those.map(({ newest_item }) => newest_item?.at ?? null));
}

/** Each feed with the sentence of its most severe reason, or its own. Pure. */
export const explained = (facts: OverallFacts): FeedStatus[] =>
  facts.feeds.map((feed) => {
    const own = reasonsOf({ ...facts, feeds: [feed] });
    const first = own.find(({ severity, feeds }) => severity !== 'info' && feeds.length > 0);
    return { ...feed, sentence: first?.sentence ?? feed.sentence };
  });
