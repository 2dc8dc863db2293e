import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { testKey } from '../harness/key.ts';
import { pageItems, type GrownSize } from './size.ts';

/** Far above what any machine reaches, so that the budget is asked and never waits. */
const requestsPerSecond = 100_000;

/** The program's own settings for chains that have grown: all that each of them has. */
export function grownSettings(explorerUrl: string, size: Pick<GrownSize, 'chains'>): Settings {
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
