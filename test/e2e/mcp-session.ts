import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, inject, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startSimulator } from '../../simulator/index.ts';
import { grantRoles } from '../../src/db/roles.ts';
import { rollUp } from '../../src/rollups/roll.ts';
import { opened, type TestDatabase } from '../harness/database.ts';
import { emptyFolder } from '../harness/process.ts';
import { plainChain, runSync } from '../harness/sync.ts';

export const key = 'canary-of-the-key';

/** Fills a database: factories are read whole, of the operations only the newest page. */
export async function fillInPart(empty: TestDatabase): Promise<void> {
  const chains = [{ ...plainChain, userOperations: 400, factories: 10 }];
  const simulator = await startSimulator({ seed: 5, chains });
  const of = { url: simulator.url, chains };
  await runSync(empty, { ...of, operations: ['factories'] });
  await runSync(empty, { ...of, operations: ['user-operations'], maxPages: 1 });
  await simulator.close();
  await rollUp(
    { db: opened(empty).db, now: () => performance.now() },
    new AbortController().signal,
  );
  await grantRoles(empty.pool);
}

const answerShape = z.looseObject({
  columns: z.array(z.looseObject({ name: z.string() })).default([]),
  rows: z.array(z.array(z.unknown())).default([]),
  is_cut: z.boolean().optional(),
  sums: z.looseObject({ sentence: z.string() }).nullish(),
  caution: z.string().nullish(),
  lists: z
    .array(
      z.looseObject({
        feed: z.string(),
        open_findings: z.int().nullable(),
        findings: z.array(z.looseObject({ kind: z.string(), is_open: z.boolean() })).default([]),
        complete: z.array(z.looseObject({ as_of: z.iso.datetime({ offset: true }) })),
        newest_item_at: z.string(),
        polled_at: z.string(),
      }),
    )
    .nullable()
    .default([]),
});
const resultShape = z.looseObject({
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
  isError: z.boolean().default(false),
});

/** A client's session with the program, in a process of its own. */
export async function openSession(url: string, flags: readonly string[] = []) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [inject('program'), 'mcp', ...flags],
    env: { DATABASE_URL: url, EXPLORER_API_KEY: key },
    cwd: await emptyFolder(),
    stderr: 'pipe',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const request = async (name: string, given: object = {}, signal?: AbortSignal) => {
    const called = { name, arguments: { ...given } };
    const options = signal === undefined ? {} : { signal };
    const result = resultShape.parse(await client.callTool(called, undefined, options));
    return { text: result.content[0].text, isError: result.isError };
  };
  return {
    client,
    transport,
    request,
    answer: async (name: string, given?: object) => {
      const { text, isError } = await request(name, given);
      expect(isError, text).toBe(false);
      return answerShape.parse(JSON.parse(text));
    },
    query: async (sql: string, limit?: number) => request('query', { sql, limit }),
  };
}

export const feedsOf = ({ lists }: z.infer<typeof answerShape>) => lists?.map(({ feed }) => feed);
