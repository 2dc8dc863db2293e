import type { RequestListener } from 'node:http';
import type { Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Timeouts } from '../../../src/explorer/client.ts';
import { largestBodyBytes } from '../../../src/explorer/response.ts';
import { page, serve, serveBytes, serveSocket, start } from './server.ts';
import { hangMs } from '../../harness/process.ts';

const once = { maxAttempts: 1 };

/** Writes again and again, until it is hung up on. */
const drip = (stream: Writable, text: string) => {
  const timer = setInterval(() => stream.write(text), 20);
  stream.on('close', () => clearInterval(timer));
};

describe('an answer is late', () => {
  const dripping: RequestListener = (_request, response) => drip(response, ' ');
  const stuck: RequestListener = (_request, response) => void response.write('{"items":[');

  test.each<[string, RequestListener, Partial<Timeouts>, RegExp]>([
    ['without headers in time', () => undefined, { headersMs: 100 }, /^no answer in time$/],
    ['if its body stops coming', stuck, { bodyMs: 100 }, /^the answer stopped half-way$/],
    [
      'after the limit of the whole, though its body drips on',
      dripping,
      { totalMs: 300 },
      /^no complete answer within 300 ms$/,
    ],
  ])('%s', async (_when, listener, timeouts, detail) => {
    const { baseUrl } = await serve(listener);
    const error = await start(baseUrl, { ...once, timeouts }).fail();
    expect(error).toMatchObject({ failure: 'unreachable', status: null });
    expect(error.detail).toMatch(detail);
  });

  test('if its head drips', async () => {
    const baseUrl = await serveSocket((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, 'x-slow: slow\r\n');
    });
    const timeouts = { headersMs: 300, totalMs: 400 };
    const error = await start(baseUrl, { ...once, timeouts }).fail();
    expect(error.failure).toBe('unreachable');
    expect(error.detail).toMatch(/no answer in time|within 400 ms/);
  });

  test('without a connection in time', async () => {
    // The TLS handshake is never answered.
    const baseUrl = await serveSocket(() => undefined);
    const timeouts = { connectMs: 100 };
    const error = await start(baseUrl.replace('http:', 'https:'), { ...once, timeouts }).fail();
    expect(error.failure).toBe('unreachable');
    expect(error.detail).toBe('no connection in time');
  });
});

test('each attempt has the full time limit', async () => {
  let number = 0;
  const { baseUrl } = await serve((_request, response) => {
    number += 1;
    if (number >= 3) response.end(page);
  });
  const answer = await start(baseUrl, { timeouts: { totalMs: 1000 } }).get();
  expect(answer.attempts).toBeGreaterThanOrEqual(3);
});

describe('an answer is too large', () => {
  const options = { ...once, maxBodyBytes: 100_000 };
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));

  test.each<[string, RequestListener]>([
    ['on the wire', (_request, response) => response.end('x'.repeat(200_000))],
    ['without end', (_request, response) => drip(response, 'x'.repeat(50_000))],
    [
      'when it is unpacked',
      (_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb),
    ],
  ])('%s', async (_where, listener) => {
    expect(bomb.length).toBeLessThan(options.maxBodyBytes);
    const { baseUrl } = await serve(listener);
    expect(await start(baseUrl, options).fail()).toMatchObject({
      failure: 'envelope-invalid',
      detail: 'the body exceeds 100000 bytes',
    });
  });

  test('in its headers', async () => {
    const { baseUrl } = await serve((_request, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end(page);
    });
    expect((await start(baseUrl, once).fail()).failure).toBe('unreachable');
  });
});

/** @returns the longest CPU time, in ms, in which `work` lets nothing else of its thread run */
async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let last = process.threadCpuUsage();
  const measure = () => {
    const { user, system } = process.threadCpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  const timer = setInterval(measure, 1);
  await work().finally(() => clearInterval(timer));
  measure();
  return longestMs;
}

describe('no page, accepted or not, blocks other work for a second:', () => {
  const filled = (text: string) =>
    text.repeat(Math.floor((largestBodyBytes - 1_000) / text.length));
  test.each([
    ['as many long numbers as may be', `[${`${'1'.repeat(270)},`.repeat(29_000)}0]`],
    ['short numbers beside a long one', `[1e400,${filled('1.5e300,')}0]`],
    ['objects beside a long number', `[1e400,${filled('{"a":{}},')}0]`],
    ['one number', filled('1')],
    ['a text of backslashes', `"${filled(String.raw`\\`)}"`],
    ['a text that escapes a beginning of the key', `"${filled(String.raw`\\u0063anary-api/key`)}"`],
    ['a text of percent signs', `"${filled('%25')}"`],
    ['a text of NUL characters', `"${filled(String.raw`\u0000`)}"`],
  ])('%s', async (_what, note) => {
    const body = `{"items":[{"note":${note}}],"next_page_params":null}`;
    expect(body.length).toBeLessThan(largestBodyBytes);
    const { baseUrl } = await serve((_request, response) => void response.end(body));
    const { get } = start(baseUrl, once);
    expect(await longestBlockMs(() => get().catch(() => undefined))).toBeLessThan(1_000);
  });
});

describe('a damaged answer is unreachable', () => {
  const gzipped = gzipSync(page);
  test.each([
    ['shorter than its content-length', `HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n${page}`],
    ['cut within a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"items":['],
    ['cut within its head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['not HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['nothing', ''],
    [
      'of an encoding not requested',
      `HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
    ],
    [
      'cut within its compression',
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 30\r\n\r\n`),
        gzipped.subarray(0, 30),
      ]),
    ],
    [
      'not compressed as it says',
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
    ],
  ])('%s', async (_name, answer) => {
    const { fail, slots } = start(await serveBytes(answer));
    expect(await fail()).toMatchObject({ failure: 'unreachable', status: null });
    expect(slots).toHaveLength(4);
  });

  test.each([
    ['longer than its content-length', `Content-Length: 10\r\n\r\n${page}`],
    ['cut without any length', `Connection: close\r\n\r\n${page.slice(0, 25)}`],
  ])('or no page: %s', async (_name, rest) => {
    const { fail } = start(await serveBytes(`HTTP/1.1 200 OK\r\n${rest}`));
    expect((await fail()).failure).toBe('envelope-invalid');
  });

  test('a whole page without any length is accepted', async () => {
    const { get } = start(await serveBytes(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${page}`));
    expect((await get()).body.toString()).toBe(page);
  });
});

describe('an abort ends the request with the reason of the signal, before any time-out', () => {
  const reason = new Error('shutting down');
  const patient = { headersMs: 2 * hangMs, bodyMs: 2 * hangMs, totalMs: 2 * hangMs };

  test.each([
    ['before the headers', ''],
    ['within the body', '{"items":['],
  ])('%s', async (_when, sent) => {
    const controller = new AbortController();
    const { baseUrl, requests } = await serve((_request, response) => {
      if (sent !== '') response.write(sent);
      setTimeout(() => controller.abort(reason), 50);
    });
    const { get } = start(baseUrl, { timeouts: patient });
    await expect(get(controller.signal)).rejects.toBe(reason);
    expect(requests()).toBe(1);
  });

  test('between two attempts', async () => {
    const controller = new AbortController();
    const { baseUrl, requests } = await serve((_request, response) =>
      response.writeHead(503).end(),
    );
    const { get } = start(baseUrl, {
      sleep: async (_ms, signal) => {
        controller.abort(reason);
        signal.throwIfAborted();
      },
    });
    await expect(get(controller.signal)).rejects.toBe(reason);
    expect(requests()).toBe(1);
  });

  test('before it began', async () => {
    const { baseUrl, requests } = await serve((_request, response) => response.end(page));
    const { get, slots } = start(baseUrl);
    await expect(get(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(slots).toHaveLength(0);
    expect(requests()).toBe(0);
  });

  test('and requests leave no listener on a signal that lives long', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...call: Parameters<typeof add>) => {
      listeners += 1;
      add(...call);
    };
    signal.removeEventListener = (...call: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...call);
    };
    onTestFinished(() => expect(listeners).toBe(0));
    const { baseUrl } = await serve((_request, response) => response.end(page));
    const { get } = start(baseUrl);
    for (let i = 0; i < 5; i += 1) await get(signal);
  });
});
