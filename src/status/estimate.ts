import { kindOf } from '../lists/index.ts';
import type { Estimates } from '../lists/list.ts';
import type { OperationName } from '../lists/registry.ts';
import type { FeedRecord } from './facts.ts';
import { firingsPerDay } from './schedule.ts';

export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

interface Known extends Pick<FeedRecord, 'settings' | 'facts'> {
  readonly operation: OperationName;
}

/** A feed's work left and daily cost. Pure. */
export const estimateOf = (
  { operation, settings, facts }: Known,
  { pageSize, at }: ForecastOptions,
): Estimates =>
  kindOf(operation).estimate(facts, settings, {
    pageSize,
    pollsPerDay: firingsPerDay(settings.schedule, at),
  });

export const sum = (counts: readonly number[]): number =>
  counts.reduce((total, each) => total + each, 0);

/** The sum of counts; null: one of them is unknown. */
export const sumKnown = (counts: readonly (number | null)[]): number | null =>
  counts.reduce((total, each) => (total === null || each === null ? null : total + each), 0);
