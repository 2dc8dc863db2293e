import { expect, test } from 'vitest';
import { eventually } from '../../harness/process.ts';
import { expectOutlasted } from './host-scene.ts';

test.each(['answers 503', 'is hidden by a page in HTML', 'cuts every connection'] as const)(
  'an explorer that %s is tested for all feeds and processes at once',
  (name) => expectOutlasted(name),
);

test('in a long outage the explorer is tested every eight seconds', () =>
  expectOutlasted('refuses connections', async (scene) => {
    const tested = (await scene.tests()).length;
    await scene.query(`update etl.hosts set failing_since = failing_since - interval '20 minutes'`);
    await eventually('a test in a long outage', async () => (await scene.tests()).length > tested);
    expect(Math.round((await scene.tests()).at(-1) ?? 0)).toBe(8);
  }));
