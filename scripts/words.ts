/**
 * `node scripts/words.ts`: finds private words in comments, messages, SQL, documents, titles of tests and names; exits
 * with 1 if there are any. A private word is one that only this project uses for something that data engineers have a
 * word for. `nobody` is an account.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseSync, type Program, type Span, Visitor } from 'oxc-parser';

const words =
  /\b(?:un)?told\b|\btells?\b|(?<!`)\bnobody\b|\bwhoever\b|\banew\b|\basked\b|\baskings?\b|\bwish(?:es)?\b|\bwitness(?:es)?\b|\bbears? out\b|\bborne out\b|\bseams?\b|\bstretch(?:es)?\b|\bholes?\b|\bastray\b|\bin vain\b|\bdoubt(?:s|ful)?\b|\bthinn(?:ed|ings?)\b|\breckon(?:s|ed)?\b|\bgrav(?:est|ity)\b|\bmend(?:s|ed)?\b|\bunattended\b|\bdatabase-away\b|\bset aside\b|\bsteady fields?\b|\bcensus\b|\bfrontier\b|\bspell(?:s|ed)?\b|\bgist\b|\bproves?\b|\bproofs?\b|\bcertificates?\b/giu;

/** Private in names too. */
const wordsOfNames = /\b(?:borne|liars?|news|stands|steady|vain)\b/giu;

/** Private in titles only: elsewhere they have their everyday meaning too. */
const wordsOfTitles =
  /\btell(?:ing)?\b|\basks?\b|\bnews\b|\bmade (?:positions?|cursors?)\b|\b(?:in)?elsewhere\b|\bfloors?\b|\btakeovers?\b|\barriv(?:als?|es?|ed|ing)\b|\bspares?\b|\bthins?\b|\brereads?\b|\bresweeps?\b(?![:[])|\brests\b|\bat rest\b|\bcom(?:es?|ing) to\b|\b(?:is|are|was|were|go|goes|gone) away\b|\ball is (?:not )?well\b|\bhow all is\b|(?<!schema )\bdrifts?\b|\bheld\b|\bunwanted\b|\bsettle[sd]?\b|\bto know\b|\bhouses?\b|\brooms?\b|\ba look\b|\blook(?:s|ed) at\b|\bheard?\b|\bliars?\b|\bgrown\b|\bblows\b|\bst(?:ands?|ood|anding)\b|\bsaid\b|\bjump(?:s|ed|ing)?\b|\bhand off\b/giu;

const isTest = (file: string) => /^test\/.*\.ts$/u.test(file);
const places = ['src', 'simulator', 'sql', 'docs', 'test', '*.md'];
const files = execFileSync('git', ['ls-files', '-z', ...places], { encoding: 'utf8' })
  .split('\0')
  .filter((file) => /\.(?:tsx?|sql|md)$/u.test(file));

let count = 0;
for (const file of files) {
  const patterns = isTest(file) ? [words, wordsOfTitles] : [words];
  const source = readFileSync(file, 'utf8');
  report(file, textsOf(file, source), patterns);
  report(file, namesOf(file, source), [words, wordsOfNames]);
}
console.log(`words: ${count} private words`);
if (count > 0) process.exitCode = 1;

interface Text {
  readonly text: string;
  readonly line: number;
}

function report(file: string, texts: readonly Text[], patterns: readonly RegExp[]): void {
  for (const { text, line } of texts) {
    for (const [word] of patterns.flatMap((pattern) => [...text.matchAll(pattern)])) {
      count += 1;
      console.error(`${file}:${line}: ${word}`);
    }
  }
}

/** What people read in a file: all of a document, comments and texts of code, titles of tests. */
function textsOf(file: string, source: string): Text[] {
  if (file.endsWith('.md')) return [{ text: source, line: 1 }];
  if (file.endsWith('.sql')) return linesOf(source);
  const { program, comments } = parseSync(file, source);
  const spans = isTest(file) ? titleSpans(source, program) : [{ start: 0, end: source.length }];
  const texts: (Span & { value: string })[] = isTest(file) ? [] : [...comments];
  new Visitor({
    Literal({ value, start, end }) {
      if (typeof value === 'string' && value.includes(' ')) texts.push({ value, start, end });
    },
    TemplateElement({ value: { raw: value }, start, end }) {
      if (value.includes(' ')) texts.push({ value, start, end });
    },
  }).visit(program);
  return texts
    .filter((text) => spans.some(within(text)))
    .map(({ value: text, start }) => ({ text, line: lineAt(source, start) }));
}

/** The names in a file as words, but for those of TLS certificates. */
function namesOf(file: string, source: string): Text[] {
  const names: Text[] = [];
  if (file.endsWith('.md')) return names;
  if (file.endsWith('.sql')) {
    return linesOf(source).flatMap(({ text, line }) =>
      [...text.matchAll(/\w+_\w+/gu)].map(([name]) => ({ text: asWords(name), line })),
    );
  }
  new Visitor({
    Identifier({ name, start }) {
      if (!/certificate/iu.test(name))
        names.push({ text: asWords(name), line: lineAt(source, start) });
    },
  }).visit(parseSync(file, source).program);
  return names;
}

function asWords(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|_/gu, ' ');
}

function linesOf(source: string): Text[] {
  return source.split('\n').map((text, index) => ({ text, line: index + 1 }));
}

function lineAt(source: string, start: number): number {
  return source.slice(0, start).split('\n').length;
}

/** Where a test file has titles: in calls of `test` and `describe`, and in the tables of `each`, there or by name. */
function titleSpans(source: string, program: Program): readonly Span[] {
  const spans: Span[] = [];
  const used: (Span & { readonly name: string })[] = [];
  const values = new Map<string, Span>();
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (/^(?:test|describe)\b/u.test(source.slice(callee.start, callee.end))) {
        spans.push(callee, title ?? callee);
      }
    },
    Identifier(node) {
      used.push(node);
    },
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init !== null) values.set(id.name, init);
    },
  }).visit(program);
  // Grows while it is read: a table may name others.
  for (const span of spans) {
    for (const { name } of used.filter((one) => within(one)(span))) {
      const value = values.get(name);
      if (value !== undefined && !spans.includes(value)) spans.push(value);
    }
  }
  return spans;
}

function within(inner: Span): (outer: Span) => boolean {
  return ({ start, end }) => start <= inner.start && inner.end <= end;
}
