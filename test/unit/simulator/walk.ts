import { expect } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';

export type Json = Record<string, unknown>;

export interface ServedPage {
  readonly items: Json[];
  readonly next: Json | null;
}

/** More pages than any list of these tests has. */
const pageBound = 2000;

export const paths = {
  operations: 'proxy/account-abstraction/operations',
  factories: 'proxy/account-abstraction/factories',
  bundles: 'proxy/account-abstraction/bundles',
  bundlers: 'proxy/account-abstraction/bundlers',
  paymasters: 'proxy/account-abstraction/paymasters',
  batch: (number: number | string) => `blocks/optimism-batch/${number}`,
};

/** A small chain to change one property of. */
export const smallChain: SimulatedChain = {
  id: 10,
  name: 'small',
  family: 'optimism',
  generation: 'v12',
  userOperations: 230,
  batches: { first: 7, count: 10, blocks: 50 },
  factories: 130,
  bundlers: 90,
  paymasters: 60,
};

export async function get(
  base: string,
  path: string,
  query: Record<string, string> = {},
): Promise<{ status: number; body: Json; headers: Headers }> {
  const response = await fetch(`${base}/${path}?${new URLSearchParams(query).toString()}`);
  return {
    status: response.status,
    body: (await response.json()) as Json,
    headers: response.headers,
  };
}

/** Follows the cursors from the head to the end; fails on a refusal or a repeated cursor. */
export async function walk(
  base: string,
  path: string,
  query: Record<string, string> = {},
): Promise<ServedPage[]> {
  const pages: ServedPage[] = [];
  const cursors = new Set<string>();
  let cursor: Record<string, string> = {};
  while (pages.length < pageBound) {
    const { status, body } = await get(base, path, {
      apikey: 'simulated-key',
      ...query,
      ...cursor,
    });
    expect(status).toBe(200);
    const next = (body['next_page_params'] ?? null) as Json | null;
    pages.push({ items: body['items'] as Json[], next });
    if (next === null || Object.keys(next).length === 0) return pages;
    cursor = Object.fromEntries(Object.entries(next).map(([name, value]) => [name, String(value)]));
    expect(cursors).not.toContain(JSON.stringify(cursor));
    cursors.add(JSON.stringify(cursor));
  }
  throw new Error(`the list did not end in ${pageBound} pages`);
}

export function itemsOf(pages: readonly ServedPage[]): Json[] {
  return pages.flatMap(({ items }) => items);
}

/** The lower-case hash of an embedded address, in whatever form it appears. */
export function addressHash(address: unknown): string | undefined {
  const hash = typeof address === 'string' ? address : (address as Json)['hash'];
  return typeof hash === 'string' ? hash.toLowerCase() : undefined;
}
