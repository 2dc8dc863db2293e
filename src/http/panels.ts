import { explorePanel } from './explore-panel.ts';
import { needsYouPanel } from './needs-you-panel.ts';
import type { Panel } from './panel.ts';
import { coveragePanel } from './coverage-panel.ts';
import { verdictPanel } from './verdict-panel.ts';
import { whyPanel } from './why-panel.ts';

/** The panels of the page, in their order. */
export const panels: readonly Panel[] = [
  verdictPanel,
  coveragePanel,
  needsYouPanel,
  whyPanel,
  explorePanel,
];
