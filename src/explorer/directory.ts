import { z } from 'zod';
import { defaultTimeouts, exchange, openConnections, type ProxyOptions } from './client.ts';
import { ExplorerError } from './error.ts';
import { parseBody } from './response.ts';

/** A chain as the explorer's own directory has it, which may be wrong. */
export type ServedChain = ReturnType<typeof chainsOf>[number];

/** A person waits for the answer, in ms. */
const longestMs = 5_000;
/** A hundred chains take 10 KB. */
const maxBodyBytes = 1024 * 1024;

const site = z.string().max(200).catch('');
const directory = z.object({ chains: z.record(z.string(), site) }).catch({ chains: {} });

/** No key is sent. */
const redact = (text: string): string => text;

/** The chains of `/api/json/config`, requested without a key; empty: no answer in time that names any. */
export async function readDirectory(
  { baseUrl, proxy }: { readonly baseUrl: string; readonly proxy: ProxyOptions | null },
  signal: AbortSignal,
  totalMs = longestMs,
): Promise<readonly ServedChain[]> {
  const url = URL.parse(`${baseUrl.replace(/\/+$/u, '')}/api/json/config`);
  if (url === null) return [];
  const dispatcher = openConnections(defaultTimeouts, proxy, maxBodyBytes);
  try {
    const found = await exchange(url, { dispatcher, totalMs, maxBodyBytes, redact, signal });
    return found.status === 200 ? chainsOf(parseBody(found.body, redact)) : [];
  } catch (error) {
    if (error instanceof ExplorerError) return [];
    throw error;
  } finally {
    await dispatcher.destroy();
  }
}

/** Its entries that have a chain's number and a website. */
const chainsOf = (json: unknown) =>
  Object.entries(directory.parse(json).chains).flatMap(([id, website]) => {
    const url = /^https?:/u.test(website) ? URL.parse(website) : null;
    if (!/^[1-9]\d{0,14}$/u.test(id) || url === null) return [];
    return [{ id: Number(id), name: nameOf(url) ?? `chain-${id}`, explorerUrl: url.origin }];
  });

/** Labels of hosts that name no chain. */
const generic = /^(?:www|explorer|blockscout|scan)$/u;

/** `mode-sepolia` for `sepolia.explorer.mode.network`; null: no name. */
function nameOf({ hostname }: URL): string | null {
  const labels = hostname.split('.').slice(0, -1).toReversed();
  const name = labels.filter((label) => !generic.test(label)).join('-');
  return /^[a-z][a-z0-9-]{1,39}$/u.test(name) ? name : null;
}
