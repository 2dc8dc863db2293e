import type { Reason, StatusDocument } from '../status/schema.ts';
import type { Problem } from './api.ts';
import { Card } from './card.tsx';
import { Command } from './command.tsx';
import { ago, count, counted, duration, moment, percent, secondsSince } from './format.ts';

const words = {
  healthy: 'Healthy',
  syncing: 'Syncing',
  degraded: 'Degraded',
  stopped: 'Stopped',
  'action-required': 'Action needed',
} as const satisfies Record<StatusDocument['overall']['state'], string>;

interface StatusProps {
  readonly status: StatusDocument;
}

interface BannerProps {
  readonly status: StatusDocument | null;
  readonly problem: Problem | null;
}

/** How all is, in a word or two: the title of the window. */
export const headline = ({ status, problem }: BannerProps): string =>
  problem?.sentence ?? (status === null ? 'Starting …' : words[status.overall.state]);

/** Green, blue and amber need nobody. What stopped is red unless a person stopped it. */
function toneOf({ overall: { state }, reasons }: StatusDocument): string {
  const stopped = reasons.some(({ code }) => code === 'no-worker') ? 'act' : 'wait';
  return { healthy: 'good', syncing: 'busy', degraded: 'wait', 'action-required': 'act', stopped }[
    state
  ];
}

/** What is shown while there is no status: no state, so no colour. */
const Absent = (props: BannerProps) => (
  <section class="banner plain" aria-label="Overall status">
    <div class="row wide">
      <div>
        <p class="sentence" role={props.problem === null ? 'status' : 'alert'}>
          {headline(props)}
        </p>
        <p>
          {props.problem?.kind === 'token'
            ? 'Add it to the end of this address: #token=…'
            : 'The page goes on by itself as soon as there is a status.'}
        </p>
      </div>
    </div>
  </section>
);

/** How all is, in one sentence, since when, and the one command that helps. */
export function Banner({ status, problem }: BannerProps) {
  if (problem !== null || status === null) return <Absent status={status} problem={problem} />;
  const { overall, as_of: now } = status;
  const word = words[overall.state];
  // The sentence may begin with the state, as in `Stopped: no worker`; the banner says it once.
  const isRepeated = overall.sentence.toLowerCase().startsWith(word.toLowerCase());
  const rest = isRepeated
    ? overall.sentence.slice(word.length).replace(/^\W+/u, '')
    : overall.sentence;
  return (
    <section class={`banner ${toneOf(status)}`} aria-label="Overall status">
      <div class="row wide">
        <div>
          <p class="sentence" role="status">
            <strong>{word}</strong>
            {rest !== '' && `: ${rest}`}
          </p>
          <p>
            {overall.since === null
              ? `as of ${moment(now, now)}`
              : `since ${moment(overall.since, now)} (${duration(secondsSince(overall.since, now))})`}
          </p>
        </div>
        {overall.command !== null && <Command text={overall.command} />}
      </div>
    </section>
  );
}

/** The four numbers of a copy. */
export function Numbers({ status: { totals, credits, as_of: now, feeds } }: StatusProps) {
  const newest = totals.newest_item_at;
  const share = totals.verified_share;
  const gaps = feeds.reduce((sum, { verified }) => sum + verified.gaps, 0);
  const limit = credits.limit === null ? '' : `of ${count(credits.limit)} · `;
  const numbers = [
    ['Rows', count(totals.rows), `${count(totals.rows_today)} today`],
    [
      'Newest item',
      newest === null ? '–' : ago(newest, now),
      newest === null ? '' : moment(newest, now),
    ],
    [
      'Verified complete',
      share === null ? '–' : percent(share),
      gaps === 0 ? 'no gaps' : counted(gaps, 'gap'),
    ],
    ['Credits today', count(credits.spent), limit + forecast(credits.forecast, now)],
  ];
  return (
    <dl class="numbers">
      {numbers.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b>
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function forecast(of: StatusDocument['credits']['forecast'], now: string): string {
  switch (of.kind) {
    case 'no-limit':
      return 'no daily limit';
    case 'enough':
      return 'enough for today';
    case 'unknown':
      return 'too early to forecast';
    case 'history-takes-days':
      return `history takes ${of.days.least} to ${counted(of.days.most, 'day')}`;
    case 'lasts-until':
      return `until ${moment(of.at, now)}`;
    case 'spent':
      return `spent until ${moment(of.until, now)}`;
  }
}

const mostFeeds = 6;

const List = ({ reasons }: { readonly reasons: readonly Reason[] }) => (
  <ul class="reasons">
    {reasons.map(({ code, sentence, advice, feeds, command }) => (
      <li key={code + sentence}>
        <p>
          <b>{sentence}</b> {advice}
        </p>
        <p class="quiet">
          {feeds.slice(0, mostFeeds).map((feed) => (
            <a key={feed} href={`#/feed/${feed}`}>
              {feed}
            </a>
          ))}
          {feeds.length > mostFeeds && `and ${feeds.length - mostFeeds} more`}
        </p>
        {command !== null && <Command text={command} />}
      </li>
    ))}
  </ul>
);

/** What only a person can fix, and, folded, what is retried or is going well. */
export function Reasons({ reasons }: { readonly reasons: readonly Reason[] }) {
  const actions = reasons.filter(({ severity }) => severity === 'action');
  const notes = reasons.filter(({ severity }) => severity !== 'action');
  return (
    <>
      {actions.length > 0 && (
        <Card title="Action needed" tone="actions">
          <List reasons={actions} />
        </Card>
      )}
      {notes.length === 0 ? (
        <p class="notes">No notes</p>
      ) : (
        <details>
          <summary>{counted(notes.length, 'note')}</summary>
          <List reasons={notes} />
        </details>
      )}
    </>
  );
}
