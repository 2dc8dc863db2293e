import { isIP } from 'node:net';
import { z } from 'zod';
import { settingsOf } from '../lists/index.ts';
import { operationNames } from '../lists/registry.ts';
import { packageVersion } from '../package-file.ts';

/** What is wrong with a text in quotes, which env files and shells may keep; null: nothing. */
export const quotesProblem = (text: string): string | null =>
  /^["'`“‘].*["'`”’]$/su.test(text) ? 'its value is in quotes: remove them' : null;

/** What is wrong with an explorer's URL; null: nothing. Never repeats the URL. */
export function baseUrlProblem(text: string): string | null {
  const quotes = quotesProblem(text);
  if (quotes !== null) return quotes;
  const url = URL.parse(text);
  if (url === null) return 'not a URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'not an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user name or password';
  return /[?#]/u.test(text) ? 'must hold no query and no fragment' : null;
}

/** Whether only programs on this machine are behind it: a name or an IP address, without brackets. */
export const isLoopback = ({ host }: { readonly host: string }): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** A warning about an explorer's URL by which others can read the key; null: none. */
export function exposureOf(baseUrl: string): string | null {
  const url = URL.parse(baseUrl);
  const isExposed =
    url?.protocol === 'http:' && !isLoopback({ host: url.hostname.replaceAll(/[[\]]/gu, '') });
  return isExposed ? `${url.host} is reached over http, which sends the key unencrypted` : null;
}

const webUrl = z.string().superRefine((text, context) => {
  const problem = baseUrlProblem(text);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const requestsPerSecond = z.number().positive().max(1000);
const dailyCredits = z.int().min(20);

/** Variables with another meaning here, in libpq or in Node: as a key, their values would go to the explorer. */
const ownVariable =
  /^(?:DATABASE_URL|EXPLORER_(?:API_KEY|SECRET_KEY|BASE_URL|ETL_.*)|PG.*|NODE_.*|.*_(?:FILE|PROXY))$/u;

const key = z
  .strictObject({
    env: z
      .string()
      .regex(
        /^[A-Z][A-Z0-9_]*$/u,
        'not the name of an environment variable, such as EXPLORER_API_KEY_BASE',
      )
      .refine((name) => !ownVariable.test(name), {
        error:
          'this variable has another purpose: name one for this key, such as EXPLORER_API_KEY_BASE',
      })
      .describe(
        'Environment variable that holds the key; with _FILE after its name, the path of a file that does. The key itself never goes here.',
      ),
    requests_per_second: requestsPerSecond
      .optional()
      .describe('Requests per second that this key may make. Default: that of explorer.'),
    daily_credits: dailyCredits
      .nullish()
      .describe('Credits that this key may spend in a day at most. Default: that of explorer.'),
  })
  .describe('An API key besides EXPLORER_API_KEY.');

/** Parsing `{}` gives the defaults. */
export const explorer = z
  .strictObject({
    base_url: webUrl
      .optional()
      .describe(
        'URL of the API. EXPLORER_BASE_URL overrides it. Default: https://api.blockscout.com',
      ),
    requests_per_second: requestsPerSecond
      .default(5)
      .describe(
        'Requests per second that the key may make: 5 is the free plan. Each costs 20 credits.',
      ),
    daily_credits: dailyCredits
      .nullish()
      .describe(
        'Credits to spend in a day (UTC) at most, by all processes on a database: no request exceeds them. Each page costs 20; the free plan has 100,000 a day, 5,000 pages. A fifth, in proportion to the rest of the day, is reserved for new data. Without it, only the explorer limits the credits.',
      ),
    page_size: z
      .int()
      .min(1)
      .max(50)
      .default(50)
      .describe('Items per page. Each page costs 20 credits whatever its size, so 50 is cheapest.'),
    archive: z
      .enum(['off', 'all'])
      .default('off')
      .describe(
        'Whether the body of every page is kept in the database, so that replay can decode it again without a request. A full page takes 3 to 13 KB there, packed; a million user operations about 170 MB.',
      ),
    archive_days: z
      .int()
      .min(1)
      .max(36_500)
      .nullish()
      .describe('Days after which archived bodies are deleted. Without it they are kept for ever.'),
    ledger_days: z
      .int()
      .min(7)
      .max(36_500)
      .nullish()
      .describe(
        'Days after which polls that brought nothing are deleted from the ledger, where other walks verify the same. Without it they are kept for ever, 2 KB each.',
      ),
    keys: z
      .record(z.string().min(1), key)
      .optional()
      .describe(
        'Further API keys by a name of yours, each with a budget of its own; a chain chooses one by its key. The others use EXPLORER_API_KEY.',
      ),
  })
  .describe('The API and its limits. Keys do not belong here: set EXPLORER_API_KEY.');

export const defaultListen = { host: '127.0.0.1', port: 4400 } as const;

/** Parses `127.0.0.1:4400`, `[::1]:4400`, `localhost:4400` or a local port; null: no address. */
export function parseAddress(text: string): { host: string; port: number } | null {
  const written = /^\d+$/u.test(text) ? `${defaultListen.host}:${text}` : text;
  const parts = /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<host>[^\s:/@[\]?#]+)):(?<port>\d{1,5})$/u.exec(
    written,
  )?.groups;
  const port = Number(parts?.['port'] ?? Number.NaN);
  const host = parts?.['six'] ?? parts?.['host'];
  return host === undefined || !(port <= 65_535) ? null : { host, port };
}

export const addressProblem = (text: string): string =>
  `${JSON.stringify(text)} is not an address to listen on: write 127.0.0.1:4400, or a port alone`;

const address = z.union([z.string(), z.int()]).transform((written, context) => {
  const parsed = parseAddress(String(written));
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', message: addressProblem(String(written)) });
  return z.NEVER;
});

/** The page, health and metrics of `start`. */
const http = z
  .strictObject({
    listen: address
      .optional()
      .describe(
        'Where start serves its page, health and metrics, as host:port. Beyond this machine it needs EXPLORER_ETL_HTTP_TOKEN. Default: 127.0.0.1:4400.',
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

/** An empty key means its defaults. */
const orDefaults = <Shape extends z.ZodType>(shape: Shape) => shape.nullable().optional();

const operations = z
  .strictObject(
    Object.fromEntries(operationNames.map((name) => [name, orDefaults(settingsOf(name))])),
  )
  .refine((chosen) => Object.keys(chosen).length > 0, 'names no operation')
  .describe(
    'What to copy from this chain. Without this key: the operations that are usual for it.',
  );

/** Flags take names too. */
const numberOfChain = "not a chain's number, such as 10; init --chain finds that of a name";

const chain = z
  .strictObject({
    id: z
      .int({ error: ({ input }) => (typeof input === 'string' ? numberOfChain : undefined) })
      .min(1)
      .describe('Number of the chain, as in the URL of the explorer.'),
    name: z.string().min(1).optional().describe('Name in reports. Default: the usual name.'),
    native_symbol: z
      .string()
      .min(1)
      .max(20)
      .optional()
      .describe(
        "Symbol of the chain's own currency, in which it counts fees. Default: the usual one; none for a chain that is not known by its number.",
      ),
    native_decimals: z
      .int()
      .min(0)
      .max(77)
      .optional()
      .describe('Decimals of that currency, by which amounts are counted in views. Default: 18.'),
    explorer_url: webUrl
      .optional()
      .describe(
        'Where people look at the chain, for links. Default: the usual one; none for a chain that is not known by its number.',
      ),
    key: z
      .string()
      .min(1)
      .optional()
      .describe('Which of explorer.keys is used for this chain. Default: EXPLORER_API_KEY.'),
    operations: operations.optional(),
  })
  .describe('A chain to copy.');

function refuseRepeats(chains: readonly { id: number }[], context: z.RefinementCtx): void {
  // Runs even if elements are invalid, so they may be anything.
  const ids = chains.map((listed: { id: number } | null) => listed?.id);
  for (const [index, id] of ids.entries()) {
    if (typeof id !== 'number' || ids.indexOf(id) === index) continue;
    const message = `chain ${id} is listed twice`;
    context.addIssue({ code: 'custom', path: [index, 'id'], message });
  }
}

export const database = z
  .strictObject({
    connections: z
      .int()
      .min(10)
      .max(100)
      .default(12)
      .describe('Connections that a process which works opens at most, with its page.'),
  })
  .describe('The database. Its address does not belong here: set DATABASE_URL.');

/** The shape of explorer-etl.yaml. */
export const configSchema = z
  .strictObject({
    deployment: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe(
        'Name of what this file deploys. Processes of one name want the same feeds, on any machine; a container needs one. Default: the name of the machine and the path of the file.',
      ),
    explorer: orDefaults(explorer),
    chains: z
      .array(chain)
      .superRefine(refuseRepeats, { when: ({ value }) => Array.isArray(value) })
      .nullish()
      .describe('The chains to copy.'),
    database: orDefaults(database),
    http: orDefaults(http),
  })
  .describe('Configuration of explorer-etl.');

export type Config = z.output<typeof configSchema>;

/** Where the schema of this version is, for editors without an installation. */
export const schemaUrl = (): string =>
  `https://unpkg.com/explorer-etl@${packageVersion()}/explorer-etl.schema.json`;

/** The text of explorer-etl.schema.json, for editors, in the form of SchemaStore. */
export function configJsonSchema(): string {
  // yaml-language-server supports draft 7 best.
  const { $schema, description, ...schema } = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
  });
  const head = { $schema, $id: schemaUrl(), title: 'explorer-etl.yaml', description };
  return `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`;
}
