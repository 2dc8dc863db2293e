import { createHash } from 'node:crypto';
import { Client } from 'pg';

interface Requested {
  readonly text: string;
  readonly name?: string;
  readonly submit?: unknown;
}

/** In characters: to plan a longer statement takes longer than to run it. */
const longStatement = 100;

/**
 * Has a session plan each long statement once: planning was half of Postgres's time in tests. The program's sessions
 * in this process are the tests' own too; in processes of their own they work as they do for users.
 */
function planOnce(): void {
  const prototype = Client.prototype as unknown as { query: Query; isPlannedOnce?: true };
  // The files of a worker share the library.
  if (prototype.isPlannedOnce === true) return;
  const { query } = prototype;
  prototype.isPlannedOnce = true;
  prototype.query = function (this: Client, first, ...others) {
    const { text, name, submit } = typeof first === 'string' ? { text: first } : (first ?? {});
    const isPlanned = text !== undefined && isLongStatement(text);
    // A cursor names its statement itself, and a text without values may be several statements.
    if (!isPlanned || name !== undefined || submit !== undefined) {
      return query.call(this, first, ...others);
    }
    if (typeof first === 'string' && !Array.isArray(others[0])) {
      return query.call(this, first, ...others);
    }
    const known = { ...(typeof first === 'string' ? { text } : first), name: nameOf(text) };
    return query.call(this, known, ...others);
  };
}

type Query = (this: Client, first?: string | Partial<Requested>, ...others: unknown[]) => unknown;

const isLongStatement = (text: string) =>
  text.length >= longStatement && !text.startsWith('explain') && !text.includes(';');

const nameOf = (text: string) => createHash('md5').update(text).digest('hex');

planOnce();
