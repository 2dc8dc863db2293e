import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openFault, type FaultName } from '../../harness/hostile-faults.ts';
import { simulated } from '../../harness/explorer.ts';
import { plainChain } from '../../harness/sync.ts';

const chain = { ...plainChain, userOperations: 120, factories: 5 };
const path = '/10/api/v2/proxy/account-abstraction/operations?apikey=simulated-key';

/** What comes of an answer, whole or not. */
async function receive(url: string) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    // A connection of its own: those that are kept may have ended already.
    get(url, { agent: false }, resolve).on('error', reject);
  });
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch {
    // A cut answer; what has come is what is looked at.
  }
  return { bytes: Buffer.concat(chunks), isWhole: answer.complete };
}

async function openFaulty(name: FaultName): Promise<string> {
  const fault = openFault(name);
  const simulator = await simulated({ seed: 3, chains: [chain], faults: () => fault });
  return simulator.url;
}

describe("a response is cut where the fault's name says, whatever its length header", () => {
  test.each<[FaultName, RegExp]>([
    ['cut-in-envelope', /^\{"ite$/u],
    ['cut-at-last-byte', /"next_page_params":\{[^}]*\}$/u],
    ['cut-in-item', /[^,],$/u],
    ['cut-after-item', /^\{"items":\[\{.*\}$/u],
    ['cut-in-string', /"note":"ca$/u],
    ['cut-in-escape', /"caf\\u00$/u],
    // The first byte of two, which latin1 shows as what it is.
    ['cut-in-character', /is caf\u00C3$/u],
  ])('%s', async (name, end) => {
    const url = await openFaulty(name);
    const received = [];
    for (let time = 0; time < 3; time += 1) received.push(await receive(`${url}${path}`));
    for (const { bytes } of received) expect(bytes.toString('latin1')).toMatch(end);
    // Announced whole, announced as it is, and not announced.
    expect(received.map(({ isWhole }) => isWhole)).toEqual([false, true, true]);
  });

  test('cut-in-gzip', async () => {
    const url = await openFaulty('cut-in-gzip');
    const { bytes } = await receive(`${url}${path}`);
    expect(bytes.length).toBeGreaterThan(0);
    expect(() => gunzipSync(bytes)).toThrow('unexpected end of file');
  });
});

test('a bomb unpacks to 256 MiB of JSON from less than a third of one', async () => {
  const { bytes } = await receive(`${await openFaulty('gzip-bomb')}${path}`);
  expect(bytes.length).toBeLessThan(340_000);
  const text = gunzipSync(bytes);
  expect(text.length).toBeGreaterThan(256 * 1024 * 1024);
  expect(text.subarray(0, 11).toString()).toBe('{"items":[]');
});
