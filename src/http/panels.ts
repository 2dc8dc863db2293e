import { coveragePanel } from './coverage-panel.ts';
import type { Panel } from './panel.ts';
import { verdictPanel } from './verdict-panel.ts';

/** The panels of the page, in their order. */
export const panels: readonly Panel[] = [verdictPanel, coveragePanel];
