import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { watch } from '../../../src/cli/status.ts';

test('--watch redraws what fits, over the last frame, until it is stopped', async () => {
  const screen = Object.assign(new PassThrough(), { columns: 40, rows: 3 });
  const stop = new AbortController();
  const rests: number[] = [];
  const widths: number[] = [];
  const rest = async (ms: number) => {
    rests.push(ms);
    screen.columns = 60;
    if (rests.length === 3) stop.abort();
  };
  const draw = async (columns: number) => {
    widths.push(columns);
    return `frame ${widths.length}\nfeeds\nbelow the screen\n`;
  };
  await watch(draw, { screen, rest, signal: stop.signal });
  const written = String(screen.read());
  expect(stripVTControlCharacters(written).match(/frame \d/gu)).toEqual([
    'frame 1',
    'frame 2',
    'frame 3',
  ]);
  expect(written).not.toContain('below the screen');
  // It moves up to the first line of the last frame.
  expect(written.split('\u001B[1A').length - 1).toBeGreaterThanOrEqual(2);
  expect(widths).toEqual([40, 60, 60]);
  expect(Math.min(...rests)).toBeGreaterThanOrEqual(2_000);
});

test('--watch stopped during a read draws nothing more', async () => {
  const screen = Object.assign(new PassThrough(), { columns: 40, rows: 3 });
  const stop = new AbortController();
  const draw = async () => {
    stop.abort();
    return 'too late';
  };
  await watch(draw, { screen, rest: async () => {}, signal: stop.signal });
  expect(String(screen.read())).not.toContain('too late');
});
