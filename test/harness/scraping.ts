import { onTestFinished } from 'vitest';
import { createMetrics, type MetricsOptions } from '../../src/http/metrics.ts';
import { scraped } from './scraped.ts';

/** What is scraped from this process until the running test ends. */
export function observing(options: Partial<MetricsOptions> & Pick<MetricsOptions, 'snapshot'>) {
  const metrics = createMetrics({
    queue: async () => [],
    version: '1.2.3',
    now: () => performance.now(),
    ...options,
  });
  onTestFinished(() => metrics.close());
  return {
    scrape: async () => {
      const families = scraped(await metrics.scrape());
      const all = (name: string) =>
        [...families.values()]
          .flatMap(({ samples }) => samples)
          .filter((one) => one.name === name || one.name.startsWith(`${name}_bucket`));
      const of = (name: string, labels: Readonly<Record<string, string>> = {}) =>
        all(name).find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value;
      return { families, all, of };
    },
  };
}
