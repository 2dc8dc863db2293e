import { Agent, request } from 'undici';

/** What an answer may take in all, in ms: webhooks answer within a second. */
const answerMs = 10_000;

/** How a post went; `problem` names neither path nor query. */
export type Posted = { readonly is: 'delivered' } | { readonly is: 'failed'; problem: string };

/** The one whom all is posted to. */
export interface Webhook {
  /** Scheme and host: all of its URL that is ever told. */
  readonly name: string;
  /** Posts JSON once. Only an answer of 2xx is a delivery; no redirect is followed, no body is read. */
  post(body: object, signal: AbortSignal): Promise<Posted>;
  close(): Promise<void>;
}

/** Scheme and host of a webhook: what follows may be a secret. */
const webhookName = (url: string): string => new URL(url).origin;

/**
 * A webhook by its URL, which is told nobody.
 *
 * @param program what it introduces itself as
 * @param limitMs how long an answer may take
 */
export function openWebhook(url: string, program: string, limitMs: number = answerMs): Webhook {
  const agent = new Agent({ connect: { timeout: limitMs }, headersTimeout: limitMs });
  const headers = { 'content-type': 'application/json', 'user-agent': program };
  return {
    name: webhookName(url),
    async post(body, signal) {
      const limit = AbortSignal.timeout(limitMs);
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers,
          body: JSON.stringify(body),
          signal: AbortSignal.any([signal, limit]),
        });
        // Nothing of it is read: it may be endless.
        answer.body.on('error', () => undefined).destroy();
        return judgeStatus(answer.statusCode);
      } catch (error) {
        signal.throwIfAborted();
        if (limit.aborted) return failed(`no answer within ${limitMs / 1000} s`);
        return failed(codeOf(error));
      }
    },
    close: () => agent.destroy(),
  };
}

const failed = (problem: string): Posted => ({ is: 'failed', problem });

function judgeStatus(status: number): Posted {
  if (status >= 200 && status < 300) return { is: 'delivered' };
  const isRedirect = status >= 300 && status < 400;
  return failed(`status ${status}${isRedirect ? ', and no redirect is followed' : ''}`);
}

/** The code alone, such as ECONNREFUSED: a message may repeat the URL. */
function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'no connection';
}
