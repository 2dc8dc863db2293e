/** A value of an item that is of another JSON type or format than its field: it counts as not told. */
export interface UnreadValue {
  /** Where in the item: `['rewards', 0, 'reward']`. */
  readonly path: readonly PropertyKey[];
  readonly kind: 'type' | 'format';
  /** The type that came, or what was expected of its format. */
  readonly detail: string;
}

/** What of an item or a part of it was not read. */
export type Unread = readonly UnreadValue[];

/** Everything was read, as it almost always is. */
export const allRead: Unread = [];

/** What was not read below a field; a value that is the field itself is not below it. */
export function unreadBelow(unread: Unread, ...field: readonly string[]): Unread {
  if (unread.length === 0) return unread;
  return unread.flatMap((value) => {
    const isBelow =
      value.path.length > field.length && field.every((step, at) => value.path[at] === step);
    return isBelow ? [{ ...value, path: value.path.slice(field.length) }] : [];
  });
}

/** Whether a field, or one that it stands in, was not read. */
export const isUnread = (unread: Unread, ...field: readonly string[]): boolean =>
  unread.some(
    ({ path }) => path.length <= field.length && path.every((step, at) => step === field[at]),
  );

/** The fields of an item, by the names of its own, that were not read. */
export const unreadFields = (unread: Unread): string[] =>
  unread.flatMap(({ path }) => (path.length === 1 ? [String(path[0])] : []));

/**
 * The members of a list of which something was not read, by their positions: all that a list had that
 * is told in part. A member that is null is one.
 */
export function unreadMembers(
  list: readonly unknown[] | null | undefined,
  below: Unread,
): readonly number[] {
  if (list === null || list === undefined) return [];
  if (below.length === 0 && !list.includes(null)) return [];
  const positions = below.flatMap(({ path: [position] }) =>
    typeof position === 'number' ? [position] : [],
  );
  const missing = list.flatMap((member, position) => (member === null ? [position] : []));
  return [...new Set([...positions, ...missing])];
}
