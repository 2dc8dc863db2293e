import type { Reason, StatusDocument } from '../status/schema.ts';
import type { Answer, Problem } from './api.ts';
import { Card } from './card.tsx';
import { Command } from './command.tsx';
import { ago, count, counted, duration, moment, percent, secondsSince } from './format.ts';

/** The word and the colour of a state: only red needs a person. */
const looks = {
  healthy: ['Healthy', 'good'],
  syncing: ['Syncing', 'busy'],
  degraded: ['Degraded', 'wait'],
  stopped: ['Stopped', 'wait'],
  'action-required': ['Action needed', 'act'],
} as const satisfies Record<StatusDocument['overall']['state'], readonly [string, string]>;

type StatusAnswer = Answer<StatusDocument>;

/** How all is, in a word or two: the title of the window. */
export const headline = ({ data, problem }: StatusAnswer): string =>
  problem?.sentence ?? (data === null ? 'Starting …' : looks[data.overall.state][0]);

/** What the banner says of a status. Its sentence may begin with the state, which is said once. */
function present({ overall: { state, sentence, since, command }, reasons, as_of }: StatusDocument) {
  const [word, tone] = looks[state];
  // A person who paused it knows; a worker that is gone needs one.
  const isGone = state === 'stopped' && reasons.some(({ code }) => code === 'no-worker');
  const rest = sentence.replace(new RegExp(`^${word}\\W*`, 'iu'), '');
  const age = since === null ? '' : ` (${duration(secondsSince(since, as_of))})`;
  const note =
    since === null ? `as of ${moment(as_of, as_of)}` : `since ${moment(since, as_of)}${age}`;
  return { tone: isGone ? 'act' : tone, text: rest === '' ? '' : `: ${rest}`, note, command };
}

/** Without a status there is no state, so no colour. */
function absent(problem: Problem | null) {
  const note =
    problem?.kind === 'token'
      ? 'Add it to the end of this address: #token=…'
      : 'The page goes on by itself as soon as there is a status.';
  return { tone: 'plain', text: '', note, command: null };
}

/** How all is, in one sentence, since when, and the one command that helps. */
export function Banner({ data, problem }: StatusAnswer) {
  const isAbsent = problem !== null || data === null;
  const { tone, text, note, command } = isAbsent ? absent(problem) : present(data);
  return (
    <section class={`banner ${tone}`} aria-label="Overall status">
      <div class="row wide">
        <div>
          <p class="sentence" role={problem === null ? 'status' : 'alert'}>
            <b>{headline({ data, problem })}</b>
            {text}
          </p>
          <p>{note}</p>
        </div>
        {command !== null && <Command text={command} />}
      </div>
    </section>
  );
}

/** The four numbers of a copy. */
export function Numbers({ status }: { readonly status: StatusDocument }) {
  const { totals, credits, as_of: now, feeds } = status;
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
  if (of.kind === 'lasts-until') return `until ${moment(of.at, now)}`;
  if (of.kind === 'spent') return `spent until ${moment(of.until, now)}`;
  if (of.kind === 'history-takes-days') {
    return `history takes ${of.days.least} to ${counted(of.days.most, 'day')}`;
  }
  const words = {
    'no-limit': 'no daily limit',
    enough: 'enough for today',
    unknown: 'too early to forecast',
  };
  return words[of.kind];
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
