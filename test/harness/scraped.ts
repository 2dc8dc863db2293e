/** A sample of a scrape. */
export interface Scraped {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A family of a scrape: what is said of it, and its samples. */
export interface Family {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Scraped[];
}

const sampleLine =
  /^(?<name>[a-z_:][\w:]*)(?:\{(?<labels>(?:[a-z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (?<value>[+-]?(?:\d[\d.]*(?:e[+-]?\d+)?|Inf)|NaN)$/iu;
const labelPart = /(?<name>[a-z_]\w*)="(?<value>(?:[^"\\\n]|\\["\\n])*)"/giu;

/**
 * The families of an answer to a scrape, by Prometheus' text format 0.0.4.
 *
 * @throws at the first line that the format does not know, at a family or a sample that comes twice, at a
 *   sample without a family, and where the last line does not end
 */
export function scraped(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, Family & { readonly samples: Scraped[] }>();
  const seen = new Set<string>();
  let help: readonly string[] = [];
  let open = '';
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const told = /^# (?<what>HELP|TYPE) (?<name>[\w:]+) (?<rest>.+)$/u.exec(line)?.groups;
    if (told?.['what'] === 'HELP') help = [told['name'] ?? '', told['rest'] ?? ''];
    else if (told?.['what'] === 'TYPE') {
      open = told['name'] ?? '';
      if (help[0] !== open || families.has(open))
        throw new Error(`no help, or told twice: ${line}`);
      families.set(open, { help: help[1] ?? '', type: told['rest'] ?? '', samples: [] });
    } else {
      const parts = sampleLine.exec(line)?.groups;
      if (parts === undefined) throw new Error(`no line of the format: ${line}`);
      const { name = '', labels = '', value = '' } = parts;
      const family = families.get(open);
      if (family === undefined || !namesOf(open, family.type).includes(name)) {
        throw new Error(`a sample of no family: ${line}`);
      }
      const key = `${name}{${labels}}`;
      if (seen.has(key)) throw new Error(`twice: ${key}`);
      seen.add(key);
      family.samples.push({ name, labels: labelsOf(labels), value: numberOf(value) });
    }
  }
  return families;
}

const namesOf = (family: string, type: string): readonly string[] =>
  type === 'histogram' || type === 'summary'
    ? [family, `${family}_bucket`, `${family}_sum`, `${family}_count`]
    : [family];

const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(labelPart)].map(({ groups }) => [
      groups?.['name'] ?? '',
      (groups?.['value'] ?? '').replaceAll(/\\(?<one>["\\n])/gu, (_, one: string) =>
        one === 'n' ? '\n' : one,
      ),
    ]),
  );

const numberOf = (text: string): number =>
  text.endsWith('Inf') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
