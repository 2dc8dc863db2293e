import { html as escaping } from 'hono/html';

/** A piece of a page. */
export type Html = ReturnType<typeof escaping>;

const tightened = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/** Every value between its tags is escaped, but pieces that it made itself. Blanks between tags are one. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  escaping(tight(strings), ...values);

/** What indents the source would be half of the page. What values hold stays, so text in `pre` does. */
function tight(strings: TemplateStringsArray): TemplateStringsArray {
  const known = tightened.get(strings);
  if (known !== undefined) return known;
  const short = strings.map((text) => text.replaceAll(/\s+/gu, ' '));
  const made: TemplateStringsArray = Object.assign(short, { raw: strings.raw });
  tightened.set(strings, made);
  return made;
}
