import { parseUrl } from '../db/timeouts.ts';
import type { NotificationDocument } from '../documents/notification.ts';
import type { StatusDocument } from '../documents/status.ts';
import { printable } from '../printable.ts';
import { adviceOf } from '../words/status-advice.ts';

type From = NotificationDocument['from'];

/** So much advice is in the text; the rest is in `advice`. */
const mostSaid = 3;

/** What is posted of a change: why there is one, what was told last, how all is now, and whose it is. Pure. */
export function notificationOf(
  status: StatusDocument,
  change: Pick<NotificationDocument, 'number' | 'before'>,
  from: From,
): NotificationDocument {
  const advice = adviceOf(status).map(({ feeds, text, todo, command }) => ({
    feeds: [...feeds],
    text: printable(text),
    todo,
    command,
  }));
  const { number, before } = change;
  return {
    schema: 'explorer-etl/notification/1',
    number,
    at: status.as_of,
    text: [headline(status, change, from), ...advice.slice(0, mostSaid).map(sentence)].join(' '),
    before,
    now: status.verdict,
    advice,
    from,
  };
}

/** A verdict in words, such as `needs you`. */
const inWords = ({ kind }: StatusDocument['verdict']): string => kind.replaceAll('-', ' ');

function headline(
  { verdict }: StatusDocument,
  { before }: Pick<NotificationDocument, 'before'>,
  { database, host }: From,
): string {
  const was = before === null ? '' : `, was ${inWords(before)}`;
  return `explorer-etl, ${database} on ${host}: ${inWords(verdict)}${was}.`;
}

function sentence({ feeds, text, todo, command }: NotificationDocument['advice'][number]): string {
  const whose = feeds.length === 0 ? '' : `${feeds.join(', ')}: `;
  const what = command === null ? (todo ?? '') : `Run ${command}.`;
  return `${whose}${text.replace(/\.$/u, '')}. ${what}`.trim();
}

/** Whose notification it is, by the URL of its database: without its user and password. */
export function fromOf(databaseUrl: string, version: string): From {
  const url = parseUrl(databaseUrl);
  const name = decodeURIComponent(url.pathname.slice(1));
  return {
    database: name === '' ? decodeURIComponent(url.username) : name,
    host: url.searchParams.get('host') ?? url.host,
    version,
  };
}
