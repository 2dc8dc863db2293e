/**
 * `npm run bench adversarial -- --runs N --seed S [--lie NAME] [--insist] [--workers K] [--table]`: so many stories
 * of a service that lies, from this seed on. Whatever `verify` calls complete must be true, and when the
 * service is honest again all must come right. Each story that fails is printed with the command that
 * repeats it; `--table` plays the seeds with each lie alone instead, and counts.
 */
import { parseArgs } from 'node:util';
import { interruptSignal } from '../../bench/child.ts';
import { withClient, withServer, type Server } from '../../bench/server.ts';
import { chosenLies, listLies } from './lies.ts';
import { describeEnding, isWell, playStories } from './play.ts';
import type { Ending, FalseComplete } from './story.ts';
import { nothingRead } from './truth.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    lie: { type: 'string' },
    insist: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
  },
});

const runs = Number(values.runs);
const first = Number(values.seed);
const lie = values.lie ?? null;
const signal = interruptSignal();
const seeds = Array.from({ length: runs }, (_, index) => first + index);

await withServer(async (server) => {
  await forgetful(server.url);
  await withDatabases(server, Number(values.workers), play);
});
if (signal.aborted) process.exitCode = 130;

async function play(databaseUrls: readonly string[]): Promise<void> {
  if (values.table) await printTable(databaseUrls);
  else await printStories(databaseUrls);
}

async function printStories(databaseUrls: readonly string[]): Promise<void> {
  const endings = await playStories({
    databaseUrls,
    seeds,
    lies: chosenLies(lie),
    insists: values.insist,
    signal,
    onEnding(ending) {
      if (!isWell(ending)) console.log(describeEnding(ending, lie, values.insist));
    },
  });
  console.log(summary(endings));
  if (!endings.every(isWell)) process.exitCode = 1;
}

/** One line for each lie of each list, told alone. */
async function printTable(databaseUrls: readonly string[]): Promise<void> {
  console.log('lie | told in | false complete | nothing read | not healed | requests | ms a story');
  for (const { name } of lie === null ? listLies : chosenLies(lie)) {
    if (signal.aborted) return;
    const endings = await playStories({
      databaseUrls,
      seeds,
      lies: chosenLies(name),
      insists: values.insist,
      signal,
    });
    const count = (is: (ending: Ending) => boolean) => endings.filter(is).length;
    console.log(
      [
        name,
        count(({ told }) => told.length > 0),
        count(({ falselyComplete }) => falselyComplete.some((claim) => !isOfNothing(claim))),
        count(({ falselyComplete }) => falselyComplete.some(isOfNothing)),
        count(({ unhealed }) => unhealed.length > 0),
        mean(endings, ({ requests }) => requests),
        mean(endings, ({ ms }) => ms),
      ].join(' | '),
    );
  }
}

function isOfNothing({ wrong }: FalseComplete): boolean {
  return wrong.includes(nothingRead);
}

function summary(endings: readonly Ending[]): string {
  const count = (is: (ending: Ending) => boolean) => endings.filter(is).length;
  const told = endings.reduce((sum, ending) => sum + ending.told.length, 0);
  return [
    `${endings.length} stories, ${told} lies told,`,
    `${mean(endings, ({ requests }) => requests)} requests and ${mean(endings, ({ ms }) => ms)} ms each:`,
    `${count(({ falselyComplete }) => falselyComplete.length > 0)} with a false complete,`,
    `${count(({ unhealed }) => unhealed.length > 0)} not well in the end`,
  ].join(' ');
}

function mean(endings: readonly Ending[], of: (ending: Ending) => number): number {
  return Math.round(endings.reduce((sum, ending) => sum + of(ending), 0) / endings.length);
}

/** What is emptied for each story need not survive a crash. */
async function forgetful(url: string): Promise<void> {
  await withClient(url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await client.query(`alter system set ${setting} to off`);
    }
    await client.query('select pg_reload_conf()');
  });
}

/** So many databases at once. */
async function withDatabases(
  server: Server,
  count: number,
  use: (urls: readonly string[]) => Promise<void>,
  open: readonly string[] = [],
): Promise<void> {
  if (open.length === count) return use(open);
  return server.withDatabase((url) => withDatabases(server, count, use, [...open, url]));
}
