import { chainName } from '../chains.ts';
import { operationNames, operations } from '../lists/registry.ts';

/**
 * The text of a first explorer-etl.yaml: the defaults with their cost, for distinct ids. Null: the usual
 * lists, and as comments those that are mirrored only if they are named.
 */
export function exampleConfig(
  chains: readonly number[],
  lists: readonly string[] | null = null,
): string {
  return `# yaml-language-server: $schema=./node_modules/explorer-etl/explorer-etl.schema.json
#
# What explorer-etl mirrors, and how often. Your API key does not belong here: set
# EXPLORER_API_KEY in the environment. Each page costs 20 credits; the free plan has 100,000
# credits a day, which is 5,000 pages of 50 items.

explorer:
  requests_per_second: 5 # what the free plan allows
  page_size: 50 # a page costs the same whatever its size
  # archive: all # keep every page's body (3 to 13 KB each), so that replay can decode it again
  # archive_days: 90 # for so long; without it for ever
  # ledger_days: 90 # keep polls that brought nothing for so long; without it for ever
  # daily_credits: 100000 # spend no more than this in a day (UTC)

${chains.length === 0 ? 'chains: []\n' : `chains:\n${chains.map((id) => chain(id, lists)).join('\n')}`}`;
}

const chain = (id: number, lists: readonly string[] | null): string => `  - id: ${id}
    name: ${chainName(id)}
    operations:
${operationNames
  .filter((name) => lists?.includes(name) ?? true)
  .map((name) => {
    const { guide, offer } = operations[name];
    const isOff = lists === null && offer(id) === 'if-named';
    return isOff ? guide.example(id).replaceAll(/^ {6}(?!#)/gmu, '      # ') : guide.example(id);
  })
  .join('')}`;
