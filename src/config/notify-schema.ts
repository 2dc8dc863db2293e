import { z } from 'zod';

/** Who is told when the verdict changes. */
export const notify = z
  .strictObject({
    url: z
      .string()
      .superRefine((text, context) => {
        const problem = notifyUrlProblem(text);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      })
      .describe(
        'Where start posts a notification when the verdict changes. EXPLORER_ETL_NOTIFY_URL goes first, and is the place for a URL that holds a secret.',
      ),
  })
  .describe(
    'A webhook that is told when the verdict of status changes. Without this key: nobody is.',
  );

/** What is wrong with the URL of a webhook; null when nothing is. Never repeats the URL, which may hold a secret. */
export function notifyUrlProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return 'not a URL: it should read https://host/path';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'not an http or https URL';
  if (url.username !== '' || url.password !== '') {
    return 'must hold no user name or password; a secret stands in its path or query';
  }
  return url.hash === '' ? null : 'must hold no fragment: what follows # is never sent';
}
