/** A browser with the page open, as far as the server sees one: what it loads, and each panel anew as news come. */
import { once } from 'node:events';
import { EventSource } from 'undici';

const { url, panels } = JSON.parse(process.argv[2] ?? '{}') as {
  url: string;
  panels: readonly string[];
};

const read = async (path: string) => void (await (await fetch(new URL(path, url))).text());

await read('/');
const events = new EventSource(new URL('/events', url).href);
events.addEventListener('changed', () => {
  void Promise.all(panels.map((id) => read(`/panels/${id}`))).then(() => process.send?.('shown'));
});
await once(process, 'disconnect');
events.close();
