/**
 * `npm run bench:replay [-- --pages 10000]`: how fast archived pages become tables again, beside COPY
 * of the same rows. Exit code 1 if the digests are not equal.
 */
import { parseArgs } from 'node:util';
import { interruptSignal } from './interrupt.ts';
import { describeMachine } from './machine.ts';
import { measureReplay } from './replay-measure.ts';
import { withServer } from './server.ts';
import { drawTable, replayFigures } from './table.ts';

const { values } = parseArgs({ options: { pages: { type: 'string', default: '10000' } } });

const signal = interruptSignal();

try {
  await withServer(async (server) => {
    console.log(await describeMachine(server.url));
    const replay = await measureReplay(server, { pages: Number(values.pages) }, signal);
    console.log(drawTable(replayFigures(replay)));
    if (!replay.isEqual) process.exitCode = 1;
  });
} catch (error) {
  if (!signal.aborted) throw error;
  process.exitCode = 130;
}
