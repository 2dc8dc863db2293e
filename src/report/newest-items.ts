import type { StatusDocument } from '../documents/status.ts';
import type { ItemPace } from '../status/facts.ts';

export type { ItemPace };

/** How current a feed's data is. */
export type DataAge = NonNullable<StatusDocument['feeds'][number]['data']>;

/** So many times the longest usual silence is none of the list's own. */
const silences = 3;
/** A list that is busy by day may rest at night; in seconds. */
const leastLimitSeconds = 6 * 3600;

/**
 * How old the newest item was when the head of the list was last looked at, and how old it may be: what
 * was listed later is not stored yet. The newest times count if the ones below confirm them. Pure.
 *
 * @param looked_at ISO 8601
 */
export function dataAgeOf({ newest, usual_s, longest_s }: ItemPace, looked_at: string): DataAge {
  const limit_s = Math.max(leastLimitSeconds, silences * longest_s);
  const confirmed = newest.at(-1) ?? 0;
  const at = newest.find((time) => time <= confirmed + limit_s) ?? confirmed;
  const age_s = Math.max(0, Date.parse(looked_at) / 1000 - at);
  return {
    newest_at: new Date(at * 1000).toISOString(),
    age_s: Math.round(age_s),
    usual_s: Math.round(usual_s),
    limit_s: Math.round(limit_s),
    is_met: age_s <= limit_s,
  };
}
