/** A browser with the page open, as far as the server sees one. */
import { setTimeout as delay } from 'node:timers/promises';

const { url } = JSON.parse(process.argv[2] ?? '{}') as { url: string };
/** As the client does while nothing runs, in ms. */
const statusMs = 10_000;
const stripsEvery = 6;

const read = async (path: string) => void (await (await fetch(new URL(path, url))).text());

process.on('disconnect', () => process.exit());
await Promise.all(['/', '/app.js', '/app.css', '/icon.svg'].map(read));
for (let turn = 0; ; turn += 1) {
  await read('/status.json');
  if (turn % stripsEvery === 0) await read('/strips.json');
  process.send?.('read');
  await delay(statusMs);
}
