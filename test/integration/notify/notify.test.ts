import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StatusDocument } from '../../../src/documents/status.ts';
import { awayStatus } from '../../../src/report/status-document.ts';
import { leaks, secretKey, storedLeaks } from '../../harness/canary.ts';
import { openDatabaseProxy } from '../../harness/database-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { hangMs } from '../../harness/hang.ts';
import { freePort } from '../../harness/port.ts';
import { eventually } from '../../harness/process.ts';
import { accept, startReceiver, type Receiver } from '../../harness/receiver.ts';
import { feed, startLooking, verdicts, world, type Looking } from './world.ts';

type Kind = StatusDocument['verdict']['kind'];

let shared: TestDatabase;
beforeAll(async () => void (shared = await createTestDatabase()));
beforeEach(() => shared.pool.query('delete from etl.notices'));
afterAll(() => shared.drop());

const look = (looking: Omit<Looking, 'databaseUrl'> & { databaseUrl?: string }) =>
  startLooking({ databaseUrl: shared.url, ...looking });

const kindsOf = ({ received }: Receiver) => received.map(({ body }) => body.now.kind);

const untilTold = (receiver: Receiver, kind: Kind) =>
  eventually(`told ${kind}`, hangMs, async () => kindsOf(receiver).at(-1) === kind);

/** Waits until the processes have looked so often again: what they had to tell is told by then. */
async function untilLooked(times = 4) {
  let last = '';
  for (let looks = 0; looks < times; looks += 1) {
    last = await eventually('a look', hangMs, async () => {
      const { rows } = await shared.pool.query<{ at: string }>(
        'select looked_at::text as at from etl.notices',
      );
      const at = rows[0]?.at ?? '';
      return at !== last && at;
    });
  }
}

const untilSettled = (kind: Kind) =>
  eventually(`settled ${kind}`, hangMs, async () => {
    const { rows } = await shared.pool.query(`select from etl.notices where told ->> 'kind' = $1`, [
      kind,
    ]);
    return rows.length > 0;
  });

test('two processes tell each change once, with what was told before', async () => {
  const receiver = await startReceiver();
  const { state, status } = world('healthy');
  // Nobody tries again because an answer is slow: that may tell a change twice, by the same number.
  const patient = { firstRetryMs: hangMs };
  for (const name of ['a', 'b']) {
    look({ url: `${receiver.origin}/${name}`, status, pace: patient });
  }
  await untilTold(receiver, 'healthy');
  for (const kind of ['needs-you', 'stopped', 'healthy'] as const) {
    state.kind = kind;
    await untilTold(receiver, kind);
  }
  await untilLooked();
  const told = receiver.received.map(({ body }) => body);
  expect(told.map(({ number, before, now }) => [number, before?.kind ?? null, now.kind])).toEqual([
    [1, null, 'healthy'],
    [2, 'healthy', 'needs-you'],
    [3, 'needs-you', 'stopped'],
    [4, 'stopped', 'healthy'],
  ]);
  const { password, pathname } = new URL(shared.url);
  expect(told[1]).toMatchObject({
    now: verdicts['needs-you'],
    advice: [{ feeds: [feed], command: 'explorer-etl quarantine list' }],
    from: { database: pathname.slice(1), version: '0.0.0' },
  });
  expect(told[1]?.text).toContain('needs you, was healthy. 10/user-operations: 3 items in');
  expect(JSON.stringify(told)).not.toContain(`:${password}@`);
});

test('a verdict that does not stand is not told', async () => {
  const receiver = await startReceiver();
  const { state, status } = world('healthy');
  let looks = 0;
  look({
    url: receiver.origin,
    pace: { holdMs: 1_000 },
    status: async () => {
      looks += 1;
      if (looks <= 12) state.kind = looks % 2 === 0 ? 'healthy' : 'stopped';
      else state.kind = 'needs-you';
      return status();
    },
  });
  await untilTold(receiver, 'needs-you');
  await untilLooked();
  expect(kindsOf(receiver)).toEqual(['needs-you']);
});

test('between two notifications it rests, and the newest verdict is told after that', async () => {
  const receiver = await startReceiver();
  const { state, status } = world('healthy');
  look({ url: receiver.origin, status, pace: { restMs: 86_400_000 } });
  await untilSettled('healthy');
  state.kind = 'needs-you';
  await untilLooked();
  state.kind = 'stopped';
  await untilLooked();
  expect(kindsOf(receiver)).toEqual(['healthy']);
  await shared.pool.query(`update etl.notices set told_at = told_at - interval '1 day'`);
  await untilTold(receiver, 'stopped');
  expect(kindsOf(receiver)).toEqual(['healthy', 'stopped']);
});

test('what is not delivered is tried again, and a newer verdict overtakes it', async () => {
  const receiver = await startReceiver();
  const { state, status } = world('healthy');
  const { lines } = look({ url: receiver.origin, status });
  await untilSettled('healthy');
  receiver.answer = (response) => void response.writeHead(500).end();
  state.kind = 'needs-you';
  await eventually('three attempts', hangMs, async () => receiver.received.length > 3);
  state.kind = 'stopped';
  await untilTold(receiver, 'stopped');
  receiver.answer = accept;
  await untilSettled('stopped');
  const last = receiver.received.at(-1)?.body;
  expect([last?.before?.kind, last?.now.kind]).toEqual(['healthy', 'stopped']);
  const numbers = receiver.received.map(({ body }) => `${body.number} ${body.now.kind}`);
  expect([...new Set(numbers)]).toEqual(['1 healthy', '2 needs-you', '3 stopped']);
  expect(lines.find((line) => line.includes('notify.undelivered'))).toContain('status 500');
});

test('a change that was tried as often as may be is left, and the next one is told', async () => {
  const receiver = await startReceiver();
  receiver.answer = (response) => void response.writeHead(410).end();
  const { state, status } = world('needs-you');
  look({ url: receiver.origin, status, pace: { mostAttempts: 2, firstRetryMs: 1 } });
  await eventually('two attempts', hangMs, async () => receiver.received.length === 2);
  await untilLooked();
  expect(kindsOf(receiver)).toEqual(['needs-you', 'needs-you']);
  receiver.answer = accept;
  state.kind = 'healthy';
  await untilSettled('healthy');
});

test('a change that was given up is told to whoever is asked from then on', async () => {
  const receiver = await startReceiver();
  receiver.answer = (response) => void response.writeHead(410).end();
  const { status } = world('needs-you');
  const own = { mostAttempts: 1 };
  const first = look({ url: receiver.origin, status, pace: own });
  await eventually('an attempt', hangMs, async () => receiver.received.length === 1);
  await untilLooked();
  await first.stop();
  receiver.answer = accept;
  look({ url: `${receiver.origin}/mended`, status, pace: own });
  await untilSettled('needs-you');
  expect(receiver.received.map(({ url }) => url)).toEqual(['/', '/mended']);
});

test('one look that found no database is no outage, however often it is told', async () => {
  const receiver = await startReceiver();
  const failed = awayStatus(new Date(), 'statement timeout');
  const { status } = world('healthy');
  let isPast = false;
  look({ url: receiver.origin, status: () => (isPast ? status() : Promise.resolve(failed)) });
  await untilLooked(8);
  isPast = true;
  await untilSettled('healthy');
  expect(kindsOf(receiver)).toEqual(['healthy']);
});

test('one that is down, mute, endless or elsewhere holds nobody up', async () => {
  const port = await freePort();
  const { state, status } = world('healthy');
  const url = `http://127.0.0.1:${port}/hook`;
  const { lines } = look({ url, status, limitMs: 200 });
  const untilSaid = (problem: string) =>
    eventually(problem, hangMs, async () => lines.some((line) => line.includes(problem)));
  await untilSaid('ECONNREFUSED');
  const receiver = await startReceiver(port);
  receiver.answer = () => undefined;
  await untilSaid('no answer within 0.2 s');
  const elsewhere = await startReceiver();
  receiver.answer = (response) =>
    void response.writeHead(307, { location: elsewhere.origin }).end();
  await untilSaid('status 307, and no redirect is followed');
  receiver.answer = (response) => {
    const more = () => void (response.destroyed || response.write('x'.repeat(1e5), more));
    response.writeHead(200);
    more();
  };
  await untilSettled('healthy');
  receiver.answer = accept;
  state.kind = 'stopped';
  await untilSettled('stopped');
  expect(elsewhere.received).toEqual([]);
});

test('what a process had under way when it ended another one tells', async () => {
  const receiver = await startReceiver();
  const { status } = world('needs-you');
  receiver.answer = () => undefined;
  const first = look({ url: receiver.origin, status });
  await untilTold(receiver, 'needs-you');
  await first.stop();
  receiver.answer = accept;
  look({ url: receiver.origin, status });
  await untilSettled('needs-you');
  const numbers = receiver.received.map(({ body }) => body.number);
  expect(numbers.length).toBeGreaterThan(1);
  expect(new Set(numbers)).toEqual(new Set([1]));
});

test('each process tells that the database is away, and one that it is back', async () => {
  const proxy = await openDatabaseProxy(shared.url);
  const receiver = await startReceiver();
  const { status } = world('healthy');
  for (const name of ['a', 'b']) {
    look({ databaseUrl: proxy.url, url: `${receiver.origin}/${name}`, status });
  }
  await untilSettled('healthy');
  proxy.set('refuse');
  proxy.cutAll();
  await eventually('both tell it', hangMs, async () => receiver.received.length === 3);
  const told = receiver.received.slice(1).map(({ url, body }) => [url, body.number, body.now.kind]);
  expect(told.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
    ['/a', 0, 'database-away'],
    ['/b', 0, 'database-away'],
  ]);
  expect(receiver.received[1]?.body.before?.kind ?? null).toBeOneOf(['healthy', null]);
  proxy.set('open');
  await untilTold(receiver, 'healthy');
  await untilLooked();
  const back = receiver.received.slice(3).map(({ body }) => body);
  expect(back.map(({ before, now }) => [before?.kind, now.kind])).toEqual([
    ['database-away', 'healthy'],
  ]);
});

test('the secret of its URL is sent to the webhook alone', async () => {
  const receiver = await startReceiver();
  receiver.answer = (response, { url }) => void response.writeHead(500, { location: url }).end(url);
  const { status } = world('needs-you');
  const secret = encodeURIComponent(secretKey);
  const { lines } = look({ url: `${receiver.origin}/${secret}?token=${secret}`, status });
  await eventually('an attempt', hangMs, async () => lines.length > 2);
  receiver.answer = accept;
  await untilSettled('needs-you');
  expect(receiver.received[0]?.url).toBe(`/${secret}?token=${secret}`);
  expect(leaks(receiver.received.map(({ text }) => text).join(''))).toEqual([]);
  expect(lines.join('')).toContain(receiver.origin);
  expect(leaks(lines.join(''))).toEqual([]);
  expect(await storedLeaks(shared.pool)).toEqual([]);
});
