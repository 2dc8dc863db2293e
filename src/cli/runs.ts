import { z } from 'zod';
import { printable } from '../printable.ts';
import { runsDocument as served } from '../status/endpoints.ts';
import { readRuns } from '../status/ledger.ts';
import type { OpenDatabase } from '../open-database.ts';
import { columns, prose } from '../terminal/layout.ts';
import { type Look, paint, type Style } from '../terminal/look.ts';
import { compact, counted, duration } from '../terminal/numbers.ts';
import type { Context, Exit } from './context.ts';
import { printAnswer } from './print.ts';

/** `status --runs --json`: runs and events of the last 24 hours, newest first, as the page shows them. */
export const runsDocument = z.strictObject({
  schema: z.literal('explorer-etl/runs/1'),
  ...served.shape,
});
type RunsDocument = z.infer<typeof runsDocument>;
type Run = RunsDocument['runs'][number];

const hours = 24;

/** Prints them. */
export async function printRuns(context: Context, { db }: Pick<OpenDatabase, 'db'>): Promise<Exit> {
  const found = await readRuns(db, { hours, feed: null });
  return printAnswer(context, runsDocument, found, runsText(found, context.out));
}

/** Rows that a terminal shows; a pipe and `--json` have all. */
const mostRows = 30;

const head = ['began, UTC', 'feed', 'lane', 'state', 'took', 'pages', 'rows'];

/** Runs and events as one table, the newest first; below a row what it says. */
export function runsText({ to, runs, events }: Omit<RunsDocument, 'schema'>, look: Look): string {
  const at = Date.parse(to);
  const all = [
    ...runs.map((run) => ({
      time: run.opened_at,
      cells: runCells(run, at, look),
      says: run.reason,
    })),
    ...events.map(({ at: time, feed, kind, sentence }) => ({
      time,
      cells: [feed ?? '', '', kind.replace('config-', ''), '', '', ''],
      says: sentence,
    })),
  ].toSorted((one, other) => Date.parse(other.time) - Date.parse(one.time));
  if (all.length === 0) return `No run in the last ${hours} hours.\n`;
  const shown = look.isTerminal ? all.slice(0, mostRows) : all;
  const rows = shown.map(({ time, cells }) => [startText(time, at), ...cells]);
  const aligns = head.map((_, place) => (place < 4 ? 'left' : 'right'));
  const [top = '', ...lines] = columns(look, { head, rows, aligns, flexible: 1 });
  const detailed = lines.flatMap((line, place) => {
    const says = shown[place]?.says ?? null;
    return says === null ? [line] : [line, ...prose(look, printable(says), 4)];
  });
  const more = all.length - shown.length;
  const rest = more === 0 ? [] : ['', `${counted(more, 'older row')}: --json has all.`];
  return `${[top, ...detailed, ...rest].join('\n')}\n`;
}

const styles: Partial<Record<Run['state'], Style>> = {
  finished: 'good',
  failed: 'bad',
  interrupted: 'warning',
};

function runCells(run: Run, at: number, look: Look): string[] {
  const took = (run.ended_at === null ? at : Date.parse(run.ended_at)) - Date.parse(run.opened_at);
  return [
    run.feed,
    run.lane,
    paint(look, styles[run.state] ?? 'quiet', run.state),
    duration(Math.round(took / 1000)).split(' ')[0] ?? '',
    compact(run.pages),
    compact(run.rows),
  ];
}

/** The day too, where it is not that of the newest. */
function startText(time: string, at: number): string {
  const iso = new Date(time).toISOString();
  const isSameDay = iso.slice(0, 10) === new Date(at).toISOString().slice(0, 10);
  return isSameDay ? iso.slice(11, 16) : iso.slice(5, 16).replace('T', ' ');
}
