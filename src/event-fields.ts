import type { LogLevel } from './log-levels.ts';

/** What a field of a log line holds. Of foreign origin is `text` alone: it is redacted and escaped. */
export interface FieldTypes {
  readonly name: string;
  readonly 'name or null': string | null;
  readonly time: string | null;
  readonly number: number;
  readonly text: string;
  readonly 'text or null': string | null;
  readonly texts: readonly string[];
}

interface FieldRule {
  readonly holds: keyof FieldTypes;
  readonly meaning: string;
}

/** Every field that a log line may have: a name means the same in every event. */
export const fields = {
  added: { holds: 'number', meaning: 'rows that are new' },
  again_in_ms: { holds: 'number', meaning: 'when it is tried again, from now' },
  chain: { holds: 'number', meaning: 'the chain' },
  chains: { holds: 'number', meaning: 'how many chains' },
  changed: { holds: 'number', meaning: 'rows that were there and differ now' },
  credits: { holds: 'number', meaning: 'credits that its requests cost' },
  detail: { holds: 'text', meaning: 'the new value or type, empty where there is none' },
  error: { holds: 'text', meaning: 'what Postgres or the connection said' },
  failure: { holds: 'name or null', meaning: 'the failure class; null where there is none' },
  feed: { holds: 'name', meaning: 'the feed: chain and list, as `status` names it' },
  feeds: { holds: 'number', meaning: 'how many feeds' },
  folder: { holds: 'text', meaning: 'where the data is' },
  items: { holds: 'number', meaning: 'items of those pages' },
  key: { holds: 'name', meaning: 'the lane of the job' },
  kind: {
    holds: 'name',
    meaning: 'how items differ: `field`, `vanished`, `type`, `format`, `value`',
  },
  lane: { holds: 'name', meaning: '`live` or `backfill`' },
  mode: { holds: 'name', meaning: 'how the pooler hands connections out' },
  ms: { holds: 'number', meaning: 'how long it took' },
  next_poll: { holds: 'time', meaning: 'when a schedule is due next; null where none ever is' },
  outcome: {
    holds: 'name',
    meaning: '`more`, `closed`, `stopped`, `fenced`, `idle`, `elsewhere` or `failure`',
  },
  page: { holds: 'number', meaning: 'the id in `etl.pages` of the page that showed it first' },
  pages: { holds: 'number', meaning: 'how many pages' },
  path: { holds: 'text', meaning: 'the field of the item' },
  pooler: { holds: 'name', meaning: 'the product' },
  problem: { holds: 'text', meaning: 'what is wrong' },
  problems: { holds: 'texts', meaning: 'what is wrong, one text each' },
  quarantined: { holds: 'number', meaning: 'items that went to quarantine' },
  queue: { holds: 'name', meaning: '`slices` or `runs`' },
  reason: { holds: 'text or null', meaning: 'what happened and what to do, for people' },
  requests: { holds: 'number', meaning: 'requests for those pages, repeated ones included' },
  runs: { holds: 'number', meaning: 'how many runs' },
  seconds: { holds: 'number', meaning: 'from its beginning to its end' },
  stack: { holds: 'text', meaning: 'where in the code it happened, innermost call first' },
  state: { holds: 'name', meaning: 'the state that the feed has now' },
  url: { holds: 'text', meaning: 'where the page is' },
  variable: { holds: 'name', meaning: 'the environment variable that holds the API key' },
  walks: { holds: 'number', meaning: 'how many walks' },
  was: { holds: 'name', meaning: 'the state that the feed had' },
  ways: { holds: 'number', meaning: 'in how many new ways items differ' },
} as const satisfies Readonly<Record<string, FieldRule>>;

export type FieldName = keyof typeof fields;

/** The values that an event with these fields is told with. */
export type FieldsOf<Name extends FieldName> = {
  readonly [Field in Name]: FieldTypes[(typeof fields)[Field]['holds']];
};

/** What repeats and ends together: one line reports it, however many feeds it stops. */
export type Trouble = 'feed' | 'key' | 'chain' | 'database';

/** How an event is told, and what of. */
export interface EventRule<Name extends FieldName> {
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly meaning: string;
  readonly fields: readonly Name[];
  /** The event in one line for people, at its time. What it is given is redacted; what acts on a terminal is escaped later. */
  readonly says: (fields: FieldsOf<Name>, atMs: number) => string;
  /** Of what trouble it is a part: that it comes again with the same `same` is counted, and seldom told. */
  readonly repeats?: { readonly of: Trouble; readonly same: readonly Name[] };
  /** The trouble that is over with it. */
  readonly ends?: Trouble;
}

/** Lets the text of an event see the fields of that event alone. */
export const event = <const Name extends FieldName = never>(
  rule: EventRule<Name>,
): EventRule<Name> => rule;
