/** A browser with the page open, as far as the server sees one: what it loads, and each panel anew as news come. */
import { once } from 'node:events';
import { EventSource, type MessageEvent } from 'undici';

const { url, panels } = JSON.parse(process.argv[2] ?? '{}') as {
  url: string;
  panels: readonly string[];
};

const read = async (path: string) => void (await (await fetch(new URL(path, url))).text());

await read('/');
/** As the page's script does, in ms. */
const longestMs = 60_000;
const shown = { facts: '', atMs: -Infinity };

const events = new EventSource(new URL('/events', url).href);
events.addEventListener('changed', (event) => {
  const { facts } = JSON.parse(String((event as MessageEvent).data)) as { facts: string };
  const isNews = facts !== shown.facts || performance.now() - shown.atMs >= longestMs;
  if (isNews) Object.assign(shown, { facts, atMs: performance.now() });
  void Promise.all((isNews ? panels : ['verdict']).map((id) => read(`/panels/${id}`))).then(() =>
    process.send?.('shown'),
  );
});
await once(process, 'disconnect');
events.close();
