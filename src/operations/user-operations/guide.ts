import type { Guide } from '../operation.ts';

/** User operations as people meet them. */
export const guide: Guide = {
  items: 'operations',
  about: 'User operations of account abstraction, newest first.',
  example:
    () => `      # The history once, down to since: one page for every 50 operations. Then what is new.
      user-operations:
        schedule: '*/5 * * * *' # one page each time, and one for every 50 new ones
        overlap: 30s # how far below the newest known one each poll reads, for those that come late
        # resweep: [{ depth: 5m, every: 20m }, { depth: 1h, every: 8h }, { depth: 1d, every: 8d }]
        #   deeper polls; each costs depth / every of the pages that are new: these, half as many
        # since: 2024-01-01 # leave older ones
`,
  question: 'How many user operations failed, by entry point version and chain?',
  sql: `select name as chain, entry_point_version,
       count(*) as operations,
       round(100.0 * count(*) filter (where not status) / count(*), 1) as failed_percent
from explorer.user_operations
join explorer.chains using (chain_id)
group by name, entry_point_version
order by name, entry_point_version`,
};
