import { growthAt } from './calendar.ts';
import type { Lived } from './chain.ts';
import type { Factory } from './factories.ts';
import { Random, type Stream } from './random.ts';
import { lastWhere } from './search.ts';

/** Accounts of the largest factory at the start, about. */
const largest = 60_000;
/** How fast counts fall with the rank: the second has a third, the hundredth has a few. */
const steepness = 1.5;

/** Where a factory stands at the end of the calendar. All of them grow with the chain. */
export function plausibleRank(
  { directory, timetable }: Lived,
  ordinal: number,
  random: Random,
): Pick<Factory, 'addressHash' | 'totalAccounts'> {
  // Less than one rank, so that the order stays.
  const rank = directory.factories.length - ordinal + random.part() * 0.9;
  const growth = growthAt(timetable, timetable.endMs);
  return {
    addressHash: directory.factories[ordinal] ?? '',
    // The ordinal keeps the smallest apart, so that no two share a count.
    totalAccounts: 1 + ordinal + Math.floor((largest * growth) / rank ** steepness),
  };
}

/** The highest ordinal not above a count, or -1; one count, one factory. */
export function seekPlausibleFactory(
  lived: Lived,
  stream: Stream,
  totalAccounts: number,
  address: string,
): number {
  return lastWhere(lived.directory.factories.length, (ordinal) => {
    const factory = plausibleRank(lived, ordinal, new Random(stream, ordinal));
    if (factory.totalAccounts !== totalAccounts) return factory.totalAccounts < totalAccounts;
    return factory.addressHash <= address;
  });
}
