const mask = '***';

/** `apikey=…` and `key=…` in any query string. */
const parameter = /(?:\b|(?<=%3f|%26))(api_?key|key)(=|%3d)[^&\s"'<>\\]+/giu;

/** Returns a function that masks secrets as `createMask` does, and any `apikey` and `key` parameter. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const maskSecrets = createMask(secrets);
  return (text) => maskSecrets(text).replace(parameter, `$1$2${mask}`);
}

/**
 * Returns a function that masks secrets, also if percent-encoded (repeatedly, either case), JSON-escaped (repeatedly)
 * or HTML-escaped. JSON stays JSON. Empty secrets are ignored; short ones are masked as whole words.
 */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const known = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    // Longest first: of two secrets with one beginning, the shorter would leave the rest.
    .toSorted((a, b) => b.length - a.length)
    .map(patternOf);
  const secret = known.length === 0 ? null : new RegExp(known.join('|'), 'gu');
  return (text) => (secret === null ? text : text.replace(secret, mask));
}

/** A shorter secret may be part of unrelated words. */
const leastLength = 8;

/** The letters of an escape, as in `%3D` or `\n`, belong to no word. */
const wordStart = String.raw`(?:(?<![\p{L}\p{N}_])|(?<=%[\da-fA-F]{2}|\\[bfnrt]|\\u[\da-fA-F]{4}))`;
const wordEnd = String.raw`(?![\p{L}\p{N}_])`;

function patternOf(secret: string): string {
  const characters = Array.from(secret, (character, at) => spellings(character, at === 0));
  const pattern = characters.join('');
  if (characters.length >= leastLength) return pattern;
  const startsWord = /^[\p{L}\p{N}_]/u.test(secret);
  const endsWord = /[\p{L}\p{N}_]$/u.test(secret);
  return `${startsWord ? wordStart : ''}${pattern}${endsWord ? wordEnd : ''}`;
}

/** Matches the ways in which a server or a library may encode one character. */
function spellings(character: string, isFirst: boolean): string {
  // One backslash in a JSON text, three in a JSON text within it, and so on. A row of them is read once.
  const escape = String.raw`${isFirst ? String.raw`(?<!\\)` : ''}\\`;
  const percent = [...Buffer.from(character, 'utf8')]
    .map((byte) => `%(?:25)*${anyCase(byte.toString(16).padStart(2, '0'))}`)
    .join('');
  const json = Array.from(
    { length: character.length },
    (_, unit) =>
      String.raw`${escape}+u${anyCase(character.charCodeAt(unit).toString(16).padStart(4, '0'))}`,
  ).join('');
  const code = character.codePointAt(0) ?? 0;
  const html = `&#(?:0*${code}|[xX]0*${anyCase(code.toString(16))});`;
  const named = namedEntities[character];
  const literal = String.raw`${escape}*\u{${code.toString(16)}}`;
  const forms = [percent, json, html, ...(named === undefined ? [] : [named]), literal];
  if (character === ' ') forms.push(String.raw`\+`);
  return `(?:${forms.join('|')})`;
}

const namedEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

const anyCase = (hex: string): string =>
  hex.replace(/[a-f]/gu, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** Masks the password of `user:password@host` in a word, up to the last `@`: people paste it unencoded. */
function withoutUserPassword(word: string): string {
  const end = Math.max(0, word.lastIndexOf('@'));
  const hidden = word.slice(0, end).replace(/(:\/\/[^:@/?#]*:).*$/su, `$1${mask}`);
  return hidden + word.slice(end);
}

/** `password=…` in a URL's query or a connection string. */
const passwordSetting = /\b((?:ssl|pg)?password)(\s*=\s*|%3d)(?:'[^']*'|[^&\s"'<>\\]+)/giu;

/** Masks any password in URLs and connection strings. */
export const withoutPasswords = (text: string): string =>
  text.replace(/\S+/gu, withoutUserPassword).replace(passwordSetting, `$1$2${mask}`);
