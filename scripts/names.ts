/** A file of src/, relative to it, and what stands in it. */
interface Source {
  readonly file: string;
  readonly text: string;
}

/**
 * Where operations and kinds of lists may be named: where they are defined, and in the schema that the page reads,
 * which imports none of it. The simulator is a world of its own.
 */
const homes = /^(?:lists|simulator)\/|^status\/schema\.ts$/u;
const folders = /^lists\/(?<name>[^/]+)\/index\.ts$/u;

/**
 * Where a file names an operation, a kind of list, or reaches into the folder of one: what it does for
 * one, it forgets for the next.
 *
 * @returns a problem for each name in each file
 */
export function namedOutside(sources: readonly Source[]): string[] {
  const names = sources.flatMap(({ file }) => folders.exec(file)?.groups?.['name'] ?? []);
  return sources
    .filter(({ file }) => !homes.test(file))
    .flatMap(({ file, text }) =>
      names
        .filter((name) => new RegExp(`['"\`/]${name}['"\`/]`, 'u').test(text))
        .map((name) => `${file}: names ${name}, which only lists/ may`),
    );
}
