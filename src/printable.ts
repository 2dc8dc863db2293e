/** Control, direction and other invisible characters, and what ends a line besides \n. */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A foreign text as one line that a terminal can be given: what would act on it is escaped. */
export const printable = (text: string): string => text.replaceAll(harmful, escape);

/** The same of a text of lines, which stay. A JSON document means what it meant. */
export const printableLines = (text: string): string =>
  text.replaceAll(harmful, (character) => (character === '\n' ? character : escape(character)));

/** As JSON spells it: those beyond 16 bits are two units. */
const escape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
  ).join('');
