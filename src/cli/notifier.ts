import { performance } from 'node:perf_hooks';
import type { Settings } from '../config/settings.ts';
import { createPool } from '../db/pool.ts';
import type { Ways } from '../db/route.ts';
import { quickReading } from '../db/timeouts.ts';
import type { StatusDocument } from '../documents/status.ts';
import type { Log } from '../log.ts';
import { fromOf } from '../notify/notification.ts';
import { notifyChanges } from '../notify/notify.ts';
import { usualPace } from '../notify/pace.ts';
import { openWebhook, type Webhook } from '../notify/post.ts';
import { awayStatus } from '../report/status-document.ts';
import { statusOrOutage } from '../report/status-now.ts';
import { version } from './version.ts';

/** What a webhook is told who it is by. */
const program = `explorer-etl/${version()}`;

/** As for the page: what takes longer is as good as away; in ms. */
const timeouts = { statementMs: 5_000, answerMs: 15_000, idleTransactionMs: 15_000 } as const;

interface NotifierOptions {
  readonly settings: Settings;
  /** Names the database to people. */
  readonly databaseUrl: string;
  readonly session: Ways['session'];
  readonly log: Log;
  /** How all is, where somebody else looks already; null: it looks by itself. */
  readonly status: (() => Promise<StatusDocument>) | null;
}

/** Tells a webhook of changes of the verdict until closed. */
export interface Notifier {
  /** Whom to tell from now on. */
  use(settings: Pick<Settings, 'notifyUrl'>): Promise<void>;
  close(): Promise<void>;
}

/** Begins to tell the webhook of the settings; without one it waits for one, and costs nothing. */
export function startNotifier(options: NotifierOptions): Notifier {
  const { settings, databaseUrl, session, log } = options;
  const { pageSize } = settings.explorer;
  const pool = createPool({
    url: session.url,
    max: 1,
    applicationName: 'explorer-etl notify',
    dbTimeouts: timeouts,
    settings: quickReading,
    ...(session.isPooled && { pooled: 'sessions' as const }),
  });
  let url = settings.notifyUrl;
  let webhook = webhookOf(url);
  const ending = new AbortController();
  const running = notifyChanges(
    {
      pool,
      status: options.status ?? (() => statusOrOutage(pool, pageSize)),
      away: (message) => awayStatus(new Date(), message),
      webhook: () => webhook,
      from: fromOf(databaseUrl, version()),
      log,
      now: () => performance.now(),
      pace: usualPace,
    },
    ending.signal,
  );
  return {
    async use({ notifyUrl }) {
      // What is being told goes on where nothing changed.
      if (notifyUrl === url) return;
      const before = webhook;
      url = notifyUrl;
      webhook = webhookOf(url);
      await before?.close();
    },
    async close() {
      ending.abort(new Error('stopping'));
      await running;
      await webhook?.close();
      await pool.end();
    },
  };
}

const webhookOf = (url: Settings['notifyUrl']): Webhook | null =>
  url === null ? null : openWebhook(url, program);
