/** Control, direction and invisible characters, and line ends other than \n. */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A foreign text as one line that is safe in a terminal. */
export const printable = (text: string): string => text.replaceAll(harmful, escape);

/** The same for several lines. A JSON document keeps its meaning. */
export const printableLines = (text: string): string =>
  text.replaceAll(harmful, (character) => (character === '\n' ? character : escape(character)));

/** As in JSON: two units beyond 16 bits. */
const escape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
  ).join('');
