import { chainName, lacksOptimismBatches } from './chains.ts';

/**
 * The text of a first explorer-etl.yaml for these chains: the defaults written out, each with
 * its cost. Valid under the schema for any list of distinct ids, the empty one too.
 */
export function exampleConfig(chains: readonly number[]): string {
  return `# yaml-language-server: $schema=./node_modules/explorer-etl/explorer-etl.schema.json
#
# What explorer-etl copies, and how often. Your API key does not belong here: set
# EXPLORER_API_KEY in the environment. Each page costs 20 credits; the free plan has 100,000
# credits a day, which is 5,000 pages of 50 items.

explorer:
  requests_per_second: 5 # what the free plan allows
  page_size: 50 # a page costs the same whatever its size
  # archive: all # keep every page's body (3 to 13 KB each), so that replay can rebuild all tables
  # archive_days: 90 # for so long; without it for ever
  # daily_credits: 100000 # spend no more than this in a day (UTC)

${chains.length === 0 ? 'chains: []\n' : `chains:\n${chains.map(chain).join('\n')}`}`;
}

const chain = (id: number): string => `  - id: ${id}
    name: ${chainName(id)}
    operations:
      # The history once, down to since: one page for every 50 operations. Then what is new.
      user-operations:
        schedule: '*/5 * * * *' # one page each time, and one for every 50 new ones
        overlap: 30s # how far below the newest known one each look goes, for those that come late
        # resweep: [{ depth: 5m, every: 20m }, { depth: 1h, every: 8h }, { depth: 1d, every: 8d }]
        #   deeper looks; each costs depth / every of the pages that are new: these, half as many
        # since: 2024-01-01 # leave older ones
${lacksOptimismBatches(id) ? noBatches : batches}      # The whole list each time: one page for every 50 factories.
      factories:
        schedule: '0 */6 * * *'
`;

const batches = `      # Each batch costs 3 to 29 pages; each time one more to look for the newest.
      optimism-batch-blocks:
        schedule: '*/10 * * * *'
        from_batch: 1 # the first one to read
        # to_batch: 100 # the last one; without it the newest is searched and followed
        reread: 2 # newest batches that are read again each time, 3 to 29 pages each
        parallel: 4 # batches read at once, within the same rate limit
`;

const noBatches = `      # optimism-batch-blocks: this chain has no Optimism batches
`;
