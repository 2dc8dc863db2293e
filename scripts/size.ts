/**
 * `node scripts/size.ts`: how large each module is, against its budget in `size.json`; exits with 1
 * above a budget. `--lower` writes budgets down to what is there; a budget never goes up by program.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { lower: { type: 'boolean', default: false } } });
const budgetsFile = 'scripts/size.json';
/** A budget leaves room for a small fix: it is rounded up to a multiple of this. */
const step = 50;

const files = execFileSync('git', ['ls-files', '-zco', '--exclude-standard'], { encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && statSync(file, { throwIfNoEntry: false })?.isFile() === true);

const sizes = new Map<string, number>();
for (const file of files) {
  for (const [name, size] of sizesOf(file)) sizes.set(name, (sizes.get(name) ?? 0) + size);
}
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
sizes.set('npm scripts', Object.keys(scripts).length);

const budgets = JSON.parse(readFileSync(budgetsFile, 'utf8')) as Record<string, number>;
const problems: string[] = [];
for (const [name, size] of sizes) {
  const budget = budgets[name] ?? 0;
  if (size > budget) problems.push(`${name}: ${size}, above its budget of ${budget}`);
}
for (const name of Object.keys(budgets).filter((each) => !sizes.has(each))) {
  problems.push(`${name}: has a budget and is not there`);
}
if (values.lower) {
  const lowered = [...sizes].map(([name, size]) => {
    const isCounted = ['npm scripts', 'root files'].includes(name);
    const rounded = isCounted ? size : roundUp(size);
    return [name, Math.min(budgets[name] ?? Infinity, rounded)] as const;
  });
  const sorted = lowered.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(budgetsFile, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}
for (const problem of problems) console.error(`${problem} (${budgetsFile})`);
console.log(`size: ${sizes.get('src')} lines of src, ${problems.length} problems`);
if (problems.length > 0 && !values.lower) process.exitCode = 1;

/** What a file adds to: lines of its module, words of documents, kB of what is tracked. Tests have no budget of lines. */
function sizesOf(file: string): readonly (readonly [string, number])[] {
  const kilobytes = ['tracked kB', statSync(file).size / 1000] as const;
  const [top = '', second = ''] = file.split('/');
  if (top === file) return [kilobytes, ['root files', 1]];
  const lines = () => readFileSync(file, 'utf8').split('\n').length - 1;
  if (top === 'src') {
    const module = file.split('/').length > 2 ? `src/${second}` : 'src/*';
    return [kilobytes, ['src', lines()], [module, lines()]];
  }
  if (top === 'bench' || top === 'scripts') return [kilobytes, ['bench and scripts', lines()]];
  if (top === 'docs' && file.endsWith('.md')) {
    // The borders of tables are no words.
    const words = readFileSync(file, 'utf8').match(/[\p{L}\p{N}]\S*/gu) ?? [];
    return [kilobytes, ['docs words', words.length]];
  }
  return top === 'simulator' ? [kilobytes, [top, lines()]] : [kilobytes];
}

function roundUp(size: number): number {
  return Math.ceil(size / step) * step;
}
