import { z } from 'zod';

/** Where the page is unless somebody says so. */
export const defaultListen = { host: '127.0.0.1', port: 4400 } as const;

/**
 * An address as people write it: `127.0.0.1:4400`, `[::1]:4400`, `localhost:4400`, or a port alone for this
 * machine only.
 *
 * @returns null where it is none
 */
export function parseAddress(text: string): { host: string; port: number } | null {
  const written = /^\d+$/u.test(text) ? `${defaultListen.host}:${text}` : text;
  const parts = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<host>[^\s:/@[\]?#]+)):(?<port>\d{1,5})$/u.exec(
    written,
  )?.groups;
  const port = Number(parts?.['port'] ?? Number.NaN);
  const host = parts?.['six'] ?? parts?.['host'];
  return host === undefined || !(port <= 65_535) ? null : { host, port };
}

/** What is wrong with an address. */
export const addressProblem = (text: string): string =>
  `${JSON.stringify(text)} is no address to listen on: write it as 127.0.0.1:4400, or a port alone`;

const address = z.union([z.string(), z.int()]).transform((written, context) => {
  const parsed = parseAddress(String(written));
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', message: addressProblem(String(written)) });
  return z.NEVER;
});

/** The page, health and metrics of `start`. */
export const http = z
  .strictObject({
    listen: address
      .optional()
      .describe(
        'Where start serves its page, health and metrics, as host:port. Beyond this machine it wants EXPLORER_ETL_HTTP_TOKEN. Default: 127.0.0.1:4400.',
      ),
    metrics: address
      .optional()
      .describe(
        'Where /metrics, /healthz and /readyz are served as well, without a token: for a network that only your monitoring reaches. Default: with the page alone.',
      ),
    hosts: z
      .array(z.string().min(1))
      .optional()
      .describe(
        'Further names by which browsers reach it, such as that of a proxy in front. Others are refused.',
      ),
  })
  .describe('The page, health and metrics of start. Without this key: none.');
