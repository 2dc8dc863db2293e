import { createServer, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { page, serve, serveBytes, serveSilence, start } from './server.ts';
import { hangMs } from '../../harness/hang.ts';

const once = { maxAttempts: 1 };

describe('time', () => {
  test('no headers in time', async () => {
    const { baseUrl } = await serve(() => undefined);
    const error = await start(baseUrl, { ...once, timeouts: { headersMs: 100 } }).fail();
    expect(error).toMatchObject({ failure: 'unreachable', status: null });
    expect(error.detail).toContain('UND_ERR_HEADERS_TIMEOUT');
  });

  test('a body that stops coming', async () => {
    const { baseUrl } = await serve((_request, response) => void response.write('{"items":['));
    const error = await start(baseUrl, { ...once, timeouts: { bodyMs: 100 } }).fail();
    expect(error.failure).toBe('unreachable');
    expect(error.detail).toContain('UND_ERR_BODY_TIMEOUT');
  });

  test('a body that drips for ever meets the limit of the whole', async () => {
    const { baseUrl } = await serve((_request, response) => {
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const error = await start(baseUrl, { ...once, timeouts: { totalMs: 300 } }).fail();
    expect(error).toMatchObject({
      failure: 'unreachable',
      detail: 'no complete answer within 300 ms',
    });
  });

  test('a body that drips is late long before the limit of the whole', async () => {
    const { baseUrl } = await serve((_request, response) => {
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const timeouts = { bodyGraceMs: 300, slowestBytesPerSecond: 10_000, totalMs: 20_000 };
    const began = performance.now();
    const error = await start(baseUrl, { ...once, timeouts }).fail();
    expect(error.failure).toBe('unreachable');
    expect(error.detail).toMatch(/^the answer came too slowly: \d+ bytes in \d+ ms$/);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('a large body on a slow line has the time that its size needs', async () => {
    const long = JSON.stringify({ items: ['a'.repeat(60_000)], next_page_params: null });
    const { baseUrl } = await serve((_request, response) => {
      let sent = 0;
      const drip = setInterval(() => {
        response.write(long.slice(sent, sent + 3000));
        sent += 3000;
        if (sent >= long.length) response.end();
      }, 50);
      response.on('close', () => clearInterval(drip));
    });
    // A second at the sender's pace, which a busy machine stretches: six are allowed for what came.
    const timeouts = { bodyGraceMs: 300, slowestBytesPerSecond: 10_000 };
    const answer = await start(baseUrl, { ...once, timeouts }).get();
    expect(answer.page.length).toBe(long.length);
    expect(answer.latencyMs).toBeGreaterThan(600);
  });

  test('a head that drips', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const drip = setInterval(() => socket.write('x-slow: slow\r\n'), 20);
        socket.on('close', () => clearInterval(drip));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const timeouts = { connectMs: 100, headersMs: 300, totalMs: 20_000 };
    const error = await start(baseUrl, { ...once, timeouts }).fail();
    expect(error.failure).toBe('unreachable');
    expect(error.detail).toMatch(/UND_ERR_HEADERS_TIMEOUT|no answer within 400 ms/);
  });

  test('no connection in time', async () => {
    // A server that accepts and then never answers the TLS handshake.
    const baseUrl = await serveSilence();
    const { fail } = start(baseUrl.replace('http:', 'https:'), {
      ...once,
      timeouts: { connectMs: 100 },
    });
    const error = await fail();
    expect(error.failure).toBe('unreachable');
    expect(error.detail).toContain('UND_ERR_CONNECT_TIMEOUT');
  });

  test('each attempt has the whole time again', async () => {
    let number = 0;
    const { baseUrl } = await serve((_request, response) => {
      number += 1;
      if (number >= 3) response.end(page);
    });
    const answer = await start(baseUrl, { timeouts: { totalMs: 1000 } }).get();
    expect(answer.attempts).toBeGreaterThanOrEqual(3);
  });
});

describe('size', () => {
  const maxBodyBytes = 100_000;

  test('a body over the limit on the wire', async () => {
    const { baseUrl } = await serve((_request, response) => response.end('x'.repeat(200_000)));
    const error = await start(baseUrl, { ...once, maxBodyBytes }).fail();
    expect(error).toMatchObject({
      failure: 'envelope-invalid',
      detail: 'the body exceeds 100000 bytes',
    });
  });

  test('a body of unknown length that never ends', async () => {
    let written = 0;
    const { baseUrl } = await serve((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000))) written += 10_000;
      };
      response.on('drain', more);
      more();
    });
    expect((await start(baseUrl, { ...once, maxBodyBytes }).fail()).failure).toBe(
      'envelope-invalid',
    );
    expect(written).toBeLessThan(50_000_000);
  });

  test('a small body that inflates without measure', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(maxBodyBytes);
    const { baseUrl } = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip').end(bomb);
    });
    const error = await start(baseUrl, { ...once, maxBodyBytes }).fail();
    expect(error).toMatchObject({
      failure: 'envelope-invalid',
      detail: 'the body exceeds 100000 bytes',
    });
  });

  test('headers without end', async () => {
    const { baseUrl } = await serve((_request, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end(page);
    });
    expect((await start(baseUrl, once).fail()).failure).toBe('unreachable');
  });
});

describe('a damaged answer is unreachable', () => {
  const gzipped = gzipSync(page);
  test.each([
    ['shorter than its content-length', `HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n${page}`],
    ['cut within a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"items":['],
    ['cut without any length', `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${page.slice(0, 25)}`],
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
    const { fail, admissions } = start(await serveBytes(answer));
    expect(await fail()).toMatchObject({ failure: 'unreachable', status: null });
    expect(admissions).toHaveLength(4);
  });

  test('longer than its content-length: what remains is no page', async () => {
    const { fail } = start(
      await serveBytes(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n${page}`),
    );
    expect((await fail()).failure).toBe('envelope-invalid');
  });

  test('a whole page without any length is accepted', async () => {
    const { get } = start(await serveBytes(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${page}`));
    expect((await get()).page.toString()).toBe(page);
  });

  test('a port where nobody listens', async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const error = await start(`http://127.0.0.1:${port}`).fail();
    expect(error.detail).toContain('ECONNREFUSED');
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
    const { get, admissions } = start(baseUrl);
    await expect(get(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(admissions).toHaveLength(0);
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
