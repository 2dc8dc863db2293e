/**
 * `node scripts/words.ts`: counts private words in comments, messages, SQL and documents, against the budget
 * in `size.json`; exits with 1 above it. `--list` prints each place. A private word is one that only this
 * project uses for something that data engineers have a word for. `nobody` is an account.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseSync, Visitor } from 'oxc-parser';

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } });

const words =
  /\b(?:un)?told\b|\btells?\b|(?<!`)\bnobody\b|\bwhoever\b|\banew\b|\basked\b|\baskings?\b|\bwish(?:es)?\b|\bwitness(?:es)?\b|\bbears? out\b|\bborne out\b|\bseams?\b|\bstretch(?:es)?\b|\bholes?\b|\bastray\b|\bin vain\b|\bdoubt(?:s|ful)?\b|\bthinn(?:ed|ings?)\b|\breckon(?:s|ed)?\b|\bgrav(?:est|ity)\b|\bmend(?:s|ed)?\b|\bunattended\b|\bdatabase-away\b|\bset aside\b|\bsteady fields?\b|\bcensus\b|\bfrontier\b|\bspell(?:s|ed)?\b|\bgist\b|\bproves?\b|\bproofs?\b|\bcertificates?\b/giu;

/** Files whose words are those of somebody else, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'scripts/words.ts': 'lists the words',
};

const files = execFileSync('git', ['ls-files', '-z', 'src', 'simulator', 'sql', 'docs', '*.md'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => /\.(?:tsx?|sql|md)$/u.test(file) && exceptions[file] === undefined);

let count = 0;
for (const file of files) {
  for (const { text, line } of textsOf(file, readFileSync(file, 'utf8'))) {
    for (const [word] of text.matchAll(words)) {
      count += 1;
      if (values.list) console.log(`${file}:${line}: ${word}`);
    }
  }
}
const budgets = JSON.parse(readFileSync('scripts/size.json', 'utf8')) as Record<string, number>;
const budget = budgets['private words'] ?? 0;
console.log(`words: ${count} private words, budget ${budget}`);
if (count > budget) process.exitCode = 1;

/** What people read in a file: all of a document, the comments and the texts of code. */
function textsOf(file: string, source: string): { text: string; line: number }[] {
  if (file.endsWith('.md')) return [{ text: source, line: 1 }];
  if (file.endsWith('.sql')) {
    return source
      .split('\n')
      .map((text, index) => ({ text, line: index + 1 }))
      .filter(({ text }) => /--|comment on/u.test(text));
  }
  const { program, comments } = parseSync(file, source);
  const texts = comments.map(({ value, start }) => ({ text: value, line: lineOf(source, start) }));
  const message = (text: string, start: number) => {
    if (text.includes(' ')) texts.push({ text, line: lineOf(source, start) });
  };
  new Visitor({
    Literal({ value, start }) {
      if (typeof value === 'string') message(value, start);
    },
    TemplateElement({ value, start }) {
      message(value.raw, start);
    },
  }).visit(program);
  return texts;
}

function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}
