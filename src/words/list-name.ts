import { operations } from '../operations/index.ts';
import { printable } from '../printable.ts';

const known: Readonly<Record<string, { readonly guide: { readonly list: string } }>> = operations;

/** A list beside the name of its chain, such as `batch blocks`; one that a newer version has, by its operation. */
export const listName = (operation: string): string =>
  known[operation]?.guide.list ?? printable(operation);
