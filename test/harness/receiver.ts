import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  notificationDocument,
  type NotificationDocument,
} from '../../src/documents/notification.ts';

/** A request that a webhook got. */
export interface Received {
  readonly url: string;
  /** All of it, as it came. */
  readonly text: string;
  /** What it says; demanded to be as its schema says. */
  readonly body: NotificationDocument;
}

/** How a webhook answers, given how many it has got before. */
export type Answering = (response: ServerResponse, received: Received) => void;

/** A webhook that keeps what it gets, until the running test ends. */
export interface Receiver {
  readonly origin: string;
  readonly received: readonly Received[];
  /** How it answers from now on. */
  answer: Answering;
}

export const accept: Answering = (response) => void response.writeHead(204).end();

/** Starts one on a port of its own, or on this one. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const one = {
        url: request.url ?? '',
        text: JSON.stringify(request.headers) + text,
        body: notificationDocument.parse(JSON.parse(text)),
      };
      received.push(one);
      receiver.answer(response, one);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address() as AddressInfo;
  const receiver: Receiver = {
    origin: `http://127.0.0.1:${address.port}`,
    received,
    answer: accept,
  };
  return receiver;
}
