import { sql } from 'drizzle-orm';
import { ofFeed, type Feed } from '../feed.ts';

/** As SQL, after `from`: the stored items of a feed's list, by where they stand; more conditions may follow. */
export const itemsOf = (feed: Feed) => sql`etl.listed_items where ${ofFeed(feed)}`;
