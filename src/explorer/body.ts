import { isExactNumber, parseExactly } from '../exact-number.ts';
import { ExplorerError } from './error.ts';
import { excerpt } from './excerpt.ts';
import { createRedactor } from '../redact.ts';

/** Largest body in bytes: fifty items take 55 KB, the largest fields seen a few MB. */
export const largestBodyBytes = 16 * 1024 * 1024;

/** Escapes that JSON allows and Postgres text refuses: NUL, and halves of surrogate pairs. */
const unstorable = /\\u(?:0000|d[89a-f])/iu;

/**
 * Deepest nesting that is cleaned: recursion must end. A page has about ten levels, and the walk
 * keeps nothing of an item below half as many as these.
 */
const deepest = 256;

/**
 * The JSON value of a body. NUL characters are removed and lone surrogates replaced in all
 * strings and keys, since Postgres cannot store them (SQLSTATE 22P05). Numbers keep their digits. A
 * `__proto__` key stays an own property. Throws ExplorerError 'envelope-invalid' when the body is not JSON; its
 * excerpt is redacted by `redact`, without which only key parameters are masked.
 */
export function parseBody(
  body: Buffer,
  redact: (text: string) => string = createRedactor([]),
): unknown {
  const text = body.toString('utf8').replace(/^\uFEFF/u, '');
  try {
    // Keys are defined as own data, `__proto__` too.
    const value = parseExactly(text);
    return unstorable.test(text) ? storable(value, 0) : value;
  } catch {
    // A SyntaxError quotes the body, so it does not become the cause.
    throw new ExplorerError({
      failure: 'envelope-invalid',
      status: 200,
      detail: `the body is not JSON: ${excerpt(text, redact)}`,
    });
  }
}

function storable(value: unknown, depth: number): unknown {
  if (depth > deepest) return value;
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map((element) => storable(element, depth + 1));
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  const entries = Object.entries(value).map(
    ([key, element]) => [key, storableText(key), storable(element, depth + 1)] as const,
  );
  // fromEntries defines properties, so `__proto__` is data here too. Changed keys come first:
  // where cleaning makes two keys equal, the one that was sent clean wins.
  const changed = entries.filter(([key, clean]) => key !== clean);
  const untouched = entries.filter(([key, clean]) => key === clean);
  return Object.fromEntries(
    [...changed, ...untouched].map(([, clean, element]) => [clean, element]),
  );
}

const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed();
