import type { z } from 'zod';
import type { ListKindName } from '../operations/operation.ts';
import { operations, type OperationName } from '../operations/index.ts';
import type { ListKind } from './list.ts';
import { newestFirst } from './newest-first/index.ts';
import { numbered } from './numbered/index.ts';
import { ranked } from './ranked/index.ts';
import type { FeedSettings } from './settings.ts';

/** Every kind of list by its name. */
export const kinds: Readonly<Record<ListKindName, ListKind>> = {
  'newest-first': newestFirst,
  numbered,
  ranked,
};

/** What the configuration may say of an operation's feed. */
export const settingsOf = (operation: OperationName): z.ZodType<FeedSettings> =>
  kindOf(operation).settings(operations[operation]);

/** The kind of an operation's list. */
export const kindOf = (operation: OperationName): ListKind => kinds[operations[operation].kind];
