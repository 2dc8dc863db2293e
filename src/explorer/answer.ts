import { z } from 'zod';
import { excerpt } from './excerpt.ts';

/** Largest body that is parsed to look for an error in it, in bytes; errors take a few hundred. */
const largestErrorBytes = 4096;

/** What an unwelcome answer says of itself, as one redacted line of at most 200 characters. */
export function describe(body: Buffer, redact: (text: string) => string): string {
  if (body.length === 0) return 'an empty body';
  const said = messageOf(body);
  if (said !== null) return excerpt(said, redact);
  const text = body.toString('utf8', 0, largestExcerptBytes);
  const title = /<title[^>]*>([^<]*)/iu.exec(text)?.[1];
  return title === undefined ? excerpt(text, redact) : `an HTML page: ${excerpt(title, redact)}`;
}

/** Bytes of a body that an excerpt is made of. */
const largestExcerptBytes = 64 * 1024;

/** Bytes of each end of a large body that are looked at: room for a BOM and white space. */
const endBytes = 64;

/** Whether a body is a page from its outside: an object that is no error; a large one is not parsed. */
export function looksLikePage(body: Buffer): boolean {
  if (body.length > largestErrorBytes) {
    const start = body.toString('utf8', 0, endBytes).trimStart();
    const end = body.toString('latin1', body.length - endBytes).trimEnd();
    return start.startsWith('{') && end.endsWith('}');
  }
  const value = object(body);
  return value !== null && ('items' in value || messageOf(body) === null);
}

/** The message in an error body of any of the service's shapes; null when there is none. */
export function messageOf(body: Buffer): string | null {
  const value = body.length > largestErrorBytes ? null : object(body);
  if (value === null) return null;
  if (Array.isArray(value.errors)) return value.errors.map(invalidParameter).join('; ');
  const text = value.message ?? value.error ?? value.errors ?? null;
  if (text === null) return null;
  const words = typeof text === 'string' ? text : JSON.stringify(text);
  return typeof value.code === 'number' ? `${value.code}: ${words}` : words;
}

/** `Invalid value /page_size: must be …`: an entry of a 422's errors (JSON:API's error object). */
function invalidParameter(entry: unknown): string {
  const parsed = parameterError.safeParse(entry);
  if (!parsed.success) return JSON.stringify(entry);
  const { title, source, detail } = parsed.data;
  const subject = [title, source?.pointer].filter((part) => part !== undefined).join(' ');
  return [subject, detail].filter((part) => part !== undefined && part !== '').join(': ');
}

const parameterError = z.object({
  title: z.string().optional(),
  source: z.object({ pointer: z.string().optional() }).optional(),
  detail: z.string().optional(),
});

function object(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8').trim());
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
