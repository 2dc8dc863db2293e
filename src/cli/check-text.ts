import type { CheckDocument } from '../documents/check.ts';
import { printable } from '../printable.ts';
import type { Look } from '../terminal/look.ts';
import { counted, whole } from '../terminal/numbers.ts';
import { paint } from '../terminal/paint.ts';
import { wrap } from '../terminal/width.ts';
import { spellAhead } from './check-clock.ts';

type State = 'ok' | 'failed' | 'warning';
type Finding = CheckDocument['findings'][number];

/** Prose is no wider than that, however wide the terminal is. */
const mostProse = 100;
/** What stands before each line's text. */
const labels: Readonly<Record<State, string>> = {
  ok: 'ok    ',
  failed: 'FAIL  ',
  warning: 'warn  ',
};
const styles = { ok: 'good', failed: 'bad', warning: 'warning' } as const;

/** What `check` found, a line for each thing that it looked at; then what is wrong, once for each cause. */
export function checkText(document: CheckDocument, look: Look): string {
  const width = Math.min(look.columns, mostProse);
  const line = (state: State, text: string) => {
    const label = labels[state];
    const [first = '', ...rest] = wrap(printable(text), width - label.length);
    return [
      paint(look, styles[state], label) + first,
      ...rest.map((more) => ' '.repeat(label.length) + more),
    ];
  };
  const isOk = document.findings.every(({ state }) => state !== 'failed');
  const lines = [
    ...line('ok', `configuration: ${configurationOf(document)}`),
    ...databaseLines(document).flatMap(([what, kinds, text]) => {
      const found = document.findings.filter(({ kind }) => kinds.includes(kind));
      const state = found.some((one) => one.state === 'failed') ? 'failed' : 'ok';
      return line(
        state,
        `${what}: ${[text, ...found.map(({ message }) => message)].filter((part) => part !== '').join(': ')}`,
      );
    }),
    ...explorerLines(document).flatMap((text) => line('ok', text)),
    ...document.findings
      .filter(({ kind }) => kind === 'feeds' || kind === 'clock')
      .flatMap((finding) => line(finding.state, spellFinding(finding, document))),
    ...(isOk ? ['', `Next:  ${paint(look, 'command', nextOf(document))}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function configurationOf({ configuration: { file, chains, feeds } }: CheckDocument): string {
  const what = `${counted(chains, 'chain')}, ${counted(feeds, 'feed')}`;
  return file === null ? `no file, flags only: ${what}` : `${file}: ${what}`;
}

/** What is said of the database, and which findings belong to each line of it. */
function databaseLines({
  database,
  findings,
}: CheckDocument): (readonly [what: string, kinds: readonly Finding['kind'][], text: string])[] {
  const { host, port, name, server_version: version, is_embedded: isEmbedded, pooler } = database;
  const place = `${name} on ${host}${port === null ? '' : `:${port}`}`;
  const server = `Postgres ${version}${isEmbedded ? ', embedded' : ''}`;
  const hasRoute = pooler !== null || findings.some(({ kind }) => kind === 'connection');
  const route = pooler === null ? '' : routeOf(pooler);
  return [
    ['database', ['server-too-old', 'standby'], `${place}, ${server}`],
    ['schema', ['newer-migrations'], schemaOf(database)],
    ...(hasRoute ? [['connection', ['connection'], route] as const] : []),
  ];
}

function routeOf({
  name,
  mode,
  is_passed: isPassed,
}: NonNullable<CheckDocument['database']['pooler']>): string {
  const sessions = isPassed ? '; sessions go the way of DATABASE_URL_DIRECT' : '';
  return `through ${name} in ${mode} mode${sessions}`;
}

function schemaOf({ migrations, schema_version: version }: CheckDocument['database']): string {
  if (migrations === null) return 'this role may not look at the migrations';
  const { applied, of_program: all, missing, ahead } = migrations;
  if (applied === 0)
    return `none yet; sync, start or migrate makes it (${counted(all, 'migration')})`;
  const done = `${all - missing} of ${counted(all, 'migration')} applied`;
  const more = [
    ...(missing > 0 ? [`sync, start or migrate applies ${missing}`] : []),
    ...(ahead > 0 ? [`${ahead} of a newer program`] : []),
  ];
  return [`${done}, version ${version}`, ...more].join('; ');
}

function explorerLines(document: CheckDocument): string[] {
  const { database, explorer, feeds, keys, findings } = document;
  const isClockOk = findings.every(({ kind }) => kind !== 'clock');
  const clocks = clocksOf(database.clock_ahead_ms, explorer.clock_ahead_ms);
  const answers = feeds.flatMap(({ latency_ms: latency }) => latency ?? []);
  const range =
    Math.min(...answers) === Math.max(...answers)
      ? `${whole(answers[0] ?? 0)} ms`
      : `${whole(Math.min(...answers))} to ${whole(Math.max(...answers))} ms`;
  const some = answers.length === feeds.length ? '' : ` of ${feeds.length}`;
  const answered =
    answers.length === 0
      ? []
      : [
          `explorer: ${explorer.host}: ${answers.length}${some} ${feeds.length === 1 ? 'feed' : 'feeds'} answered in ${range}`,
        ];
  return [
    ...(isClockOk && clocks !== '' ? [`clocks: ${clocks}`] : []),
    ...(feeds.length === 0 ? [`explorer: ${explorer.host}, not asked`] : answered),
    ...keys.flatMap((key) => creditLine(key, keys.length)),
  ];
}

/** Differences that nobody feels are none. */
const equalMs = 1_000;

function clocksOf(databaseMs: number | null, explorerMs: number | null): string {
  const parts = [
    ['the database', databaseMs],
    ['the explorer', explorerMs],
  ] as const;
  return parts
    .flatMap(([whose, ms]) => {
      if (ms === null) return [];
      return Math.abs(ms) <= equalMs
        ? [`${whose}'s agrees with this machine's`]
        : [`${whose}'s is ${spellAhead(ms)} this machine's`];
    })
    .join(', ');
}

function creditLine(
  { chains, credits_left: left, credits_spent_today: spent }: CheckDocument['keys'][number],
  keys: number,
): string[] {
  const parts = [
    ...(left === null ? [] : [`${whole(left)} left today`]),
    ...(spent === null ? [] : [`${whole(spent)} spent today by this database`]),
  ];
  const of =
    keys === 1 ? '' : ` of the key of ${counted(chains.length, 'chain')} (${chains.join(', ')})`;
  return parts.length === 0 ? [] : [`credits${of}: ${parts.join(', ')}`];
}

function spellFinding({ kind, feeds, message }: Finding, { explorer }: CheckDocument): string {
  if (kind !== 'feeds') return `clocks: ${message}`;
  const [first, ...others] = feeds;
  const names = others.length === 0 ? first : `${feeds.length} feeds (${feeds.join(', ')})`;
  return `${names} of ${explorer.host}: ${message}`;
}

function nextOf({ configuration: { file }, database: { migrations } }: CheckDocument): string {
  // Flags alone would have to be given again.
  if (file === null) return 'explorer-etl init';
  return migrations?.applied === 0 ? 'explorer-etl plan' : 'explorer-etl sync';
}
