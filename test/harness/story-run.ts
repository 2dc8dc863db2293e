/**
 * `npm run bench adversarial -- --runs N --seed S [--lie NAME] [--insist] [--workers K]`: so many stories
 * of a service that lies, from this seed on. Whatever `verify` calls complete must be true, and when the
 * service is honest again all must come right. Each story that fails is printed with the command that
 * repeats it.
 */
import { parseArgs } from 'node:util';
import { interruptSignal } from '../../bench/child.ts';
import { withClient, withServer, type Server } from '../../bench/server.ts';
import { withEnds } from './ending.ts';
import { chosenLies } from './story-lies.ts';
import { describeEnding, isWell, playStories, type Ending } from './story.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    lie: { type: 'string' },
    insist: { type: 'boolean', default: false },
  },
});

const runs = Number(values.runs);
const first = Number(values.seed);
const lie = values.lie ?? null;
const signal = interruptSignal();
const seeds = Array.from({ length: runs }, (_, index) => first + index);

await withServer(async (server) => {
  await forgetful(server.url);
  await withDatabases(server, Number(values.workers), (urls) => withEnds(() => printStories(urls)));
});
if (signal.aborted) process.exitCode = 130;

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

function summary(endings: readonly Ending[]): string {
  const count = (is: (ending: Ending) => boolean) => endings.filter(is).length;
  const played = endings.reduce((sum, ending) => sum + ending.played.length, 0);
  return [
    `${endings.length} stories, ${played} lies played,`,
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
