import { creditsPanel } from './credits-panel.ts';
import { explorePanel } from './explore-panel.ts';
import { freshnessPanel } from './freshness-panel.ts';
import { needsYouPanel } from './needs-you-panel.ts';
import type { Panel } from './panel.ts';
import { coveragePanel } from './coverage-panel.ts';
import { throughputPanel } from './throughput-panel.ts';
import { verdictPanel } from './verdict-panel.ts';
import { whyPanel } from './why-panel.ts';

/** The panels of the page, in their order. */
export const panels: readonly Panel[] = [
  verdictPanel,
  coveragePanel,
  freshnessPanel,
  throughputPanel,
  creditsPanel,
  needsYouPanel,
  whyPanel,
  explorePanel,
];
