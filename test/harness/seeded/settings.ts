import { loadSettings } from '../../../src/config/load.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { testKey } from '../key.ts';
import { pageItems, type SeededSize } from './size.ts';

/** Far above what any machine reaches, so that the budget is asked and never waits. */
const requestsPerSecond = 100_000;

/** The program's own settings for seeded chains: all that each of them has. */
export function seededSettings(explorerUrl: string, size: Pick<SeededSize, 'chains'>): Settings {
  const settings = loadSettings({
    cwd: '/',
    env: { EXPLORER_BASE_URL: explorerUrl, EXPLORER_API_KEY: testKey },
    chains: size.chains.map(({ id }) => String(id)),
  });
  const hasBatches = new Set(
    size.chains.filter(({ batches }) => batches !== null).map(({ id }) => id),
  );
  return {
    ...settings,
    explorer: { ...settings.explorer, requestsPerSecond, pageSize: pageItems },
    chains: settings.chains.map((chain) => ({
      ...chain,
      operations: Object.fromEntries(
        Object.entries(chain.operations).filter(
          ([operation]) => hasBatches.has(chain.id) || !operation.startsWith('optimism-'),
        ),
      ),
    })),
  };
}
