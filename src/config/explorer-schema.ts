import { z } from 'zod';

const requestsPerSecond = z.number().positive().max(1000);
const dailyCredits = z.int().min(20);

const key = z
  .strictObject({
    env: z
      .string()
      .regex(
        /^[A-Z][A-Z0-9_]*$/u,
        'not the name of an environment variable, such as EXPLORER_API_KEY_BASE',
      )
      .describe(
        'Environment variable that holds the key; with _FILE after its name, the path of a file that does. The key itself never stands here.',
      ),
    requests_per_second: requestsPerSecond
      .optional()
      .describe('Requests per second that this key may make. Default: that of explorer.'),
    daily_credits: dailyCredits
      .nullish()
      .describe('Credits that this key may spend in a day at most. Default: that of explorer.'),
  })
  .describe('An API key besides EXPLORER_API_KEY.');

/** Keys of explorer; parsing `{}` gives the defaults. */
export const explorer = z
  .strictObject({
    base_url: z
      .string()
      .superRefine((text, context) => {
        const problem = baseUrlProblem(text);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      })
      .optional()
      .describe(
        'Where the API is. EXPLORER_BASE_URL goes first. Default: https://api.blockscout.com',
      ),
    requests_per_second: requestsPerSecond
      .default(5)
      .describe(
        'Requests per second that the key may make: 5 is the free plan. Each costs 20 credits.',
      ),
    daily_credits: dailyCredits
      .nullish()
      .describe(
        'Credits to spend in a day (UTC) at most, by all processes on a database: nothing is asked beyond. Each page costs 20; the free plan has 100,000 a day, 5,000 pages. History leaves a fifth of what the rest of the day may cost to what is new. Without it, only the explorer limits the credits.',
      ),
    page_size: z
      .int()
      .min(1)
      .max(50)
      .default(50)
      .describe('Items per page. Each page costs 20 credits whatever its size, so 50 is cheapest.'),
    archive: z
      .enum(['off', 'all'])
      .default('off')
      .describe(
        'Whether the body of every page is kept in the database, so that replay can decode it again without a request. A full page takes 3 to 13 KB there, packed; a million user operations about 170 MB.',
      ),
    archive_days: z
      .int()
      .min(1)
      .max(36_500)
      .nullish()
      .describe('Days after which archived bodies are deleted. Without it they are kept for ever.'),
    ledger_days: z
      .int()
      .min(7)
      .max(36_500)
      .nullish()
      .describe(
        'Days after which polls that brought nothing are deleted from the ledger, where other walks prove the same. Without it they are kept for ever, 1.4 KB each.',
      ),
    keys: z
      .record(z.string().min(1), key)
      .optional()
      .describe(
        'Further API keys by a name of yours, each with a budget of its own; a chain chooses one by its key. The others use EXPLORER_API_KEY.',
      ),
  })
  .describe('The API and how hard it may be used. Keys never stand here: EXPLORER_API_KEY.');

/** What is wrong with the URL of an explorer; null when nothing is. Never repeats the URL. */
export function baseUrlProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return 'not a URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'not an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user name or password';
  return /[?#]/u.test(text) ? 'must hold no query and no fragment' : null;
}
