/**
 * The page with other parameters, the rest of its query as it is: each panel has its own.
 *
 * @param changes null takes a parameter out
 */
export function link(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | number | null>>,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name);
    else changed.set(name, String(value));
  }
  return `?${changed.toString()}`;
}
