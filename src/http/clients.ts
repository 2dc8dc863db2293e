import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of a server, and so of its requests in progress: a browser opens six, a probe one. */
const mostConnections = 128;
/** In bytes, of all answers that clients have not read: the largest one has a few MB. */
const mostUnsentBytes = 16 * 1024 * 1024;
/** Node would parse 64 KB at once: 1,400 requests take 40 ms. */
const sliceBytes = 256;

/**
 * Bounds what all clients of a server can take: a connection that sends a body, or a request before its last answer is
 * sent, is closed; one that would rather speak another protocol is answered once, and nothing more is read of it. The
 * newest client, which may be a probe, always gets in: those that do not read make room first.
 */
export function boundClients(
  server: Server,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): void {
  /** The answer in progress of each connection, if any; the longest silent connection first. */
  const clients = new Map<Socket, ServerResponse | null>();
  const answeredOnce = new WeakSet<Socket>();
  const note = (socket: Socket, response: ServerResponse | null) => {
    if (clients.delete(socket)) clients.set(socket, response);
  };
  server.on('connection', (socket) => {
    if (clients.size >= mostConnections) leastNeeded(clients)?.destroy();
    clients.set(socket, null);
    socket.on('close', () => void clients.delete(socket));
    socket.on('readable', () => readSlices(socket, () => answeredOnce.has(socket)));
  });
  server.on('request', (request, response) => {
    const { socket, headers } = request;
    // No client of ours sends a body; Node would read one of any length to its end.
    const { upgrade, 'transfer-encoding': coding, 'content-length': length = '0' } = headers;
    const hasBody = coding !== undefined || length !== '0';
    if (hasBody || clients.get(socket) !== null) return void socket.destroy();
    if (upgrade !== undefined) {
      // Clients of HTTP/2 ask so in their first request. Node would read what follows to its end.
      answeredOnce.add(socket);
      response.shouldKeepAlive = false;
    }
    note(socket, response);
    response.on('prefinish', () => {
      note(socket, response);
      for (const unread of unreadBeyond(mostUnsentBytes, clients.keys())) unread.destroy();
    });
    response.on('close', () => note(socket, null));
    // A next request in the same slice comes first, and then this one is not worth an answer.
    process.nextTick(() => {
      if (!socket.destroyed) answer(request, response);
    });
  });
}

/** `read` emits the slice as 'data', which the parser reads. */
function readSlices(socket: Socket, isEnough: () => boolean): void {
  const read = (): unknown => socket.read(Math.min(sliceBytes, socket.readableLength));
  while (!socket.destroyed && !isEnough() && read() !== null);
}

/** The longest silent of those that do not read their answer, else of the idle, else of those that wait for one. */
function leastNeeded(clients: ReadonlyMap<Socket, ServerResponse | null>): Socket | undefined {
  const all = [...clients];
  const unread = all.find(([, response]) => response?.writableEnded === true);
  const idle = all.find(([, response]) => response === null);
  return (unread ?? idle ?? all[0])?.[0];
}

/** Those to close, the longest silent first, so that all have at most `mostBytes` unsent; never the newest one. */
function unreadBeyond(mostBytes: number, sockets: Iterable<Socket>): Socket[] {
  const unread = [...sockets].filter(({ writableLength }) => writableLength > 0);
  let bytes = unread.reduce((sum, { writableLength }) => sum + writableLength, 0);
  return unread.slice(0, -1).filter(({ writableLength }) => {
    const isBeyond = bytes > mostBytes;
    bytes -= writableLength;
    return isBeyond;
  });
}
