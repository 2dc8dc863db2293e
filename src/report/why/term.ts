import type { Term } from '../../page/why/facts.ts';

/** What a bigint holds. */
const largest = 2n ** 63n - 1n;

/** Longer texts are nothing that can be looked up. */
const longest = 100;

/** What a person may have pasted: blanks around it, upper case, digits in groups. Null: nothing of these. */
export function readTerm(text: string): Term | null {
  const term = text.trim().toLowerCase();
  if (term.length > longest) return null;
  const hex = /^(?:0x)?([0-9a-f]{64}|[0-9a-f]{40})$/u.exec(term)?.[1];
  if (hex !== undefined) return { is: hex.length === 64 ? 'hash' : 'address', value: `0x${hex}` };
  const digits = /^(?:\d+|\d{1,3}(?:[,_ ]\d{3})+)$/u.test(term) ? term.replaceAll(/\D/gu, '') : '';
  if (digits === '' || BigInt(digits) > largest) return null;
  return { is: 'number', value: BigInt(digits).toString() };
}
