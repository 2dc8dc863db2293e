/**
 * Holds every import below src/ and simulator/ against the layers of `layers.ts`, types included. Fails also when
 * it saw no imports: a scan that sees nothing verifies nothing. (dependency-cruiser was tried: with
 * TypeScript 7 alone it scans nothing and reports success, and with swc it fails on `using`.)
 */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { brokenRule, hasLayer } from './layers.ts';
import { namedOutside } from './names.ts';

const product = globSync('**/*.{ts,tsx}', { cwd: 'src' }).map((file) => file.replaceAll('\\', '/'));
const files = [...product, ...globSync('simulator/**/*.ts').map((f) => f.replaceAll('\\', '/'))];
const known = new Set(files);
const problems: string[] = [];
let imports = 0;

for (const file of files) {
  if (!hasLayer(file)) problems.push(`${file}: has no layer: see scripts/layers.ts`);
  for (const target of importsOf(file)) {
    imports += 1;
    const rule = brokenRule(file, target);
    if (rule !== null) problems.push(`${file} -> ${target}: ${rule}`);
    else if (!known.has(target)) problems.push(`${file} -> ${target}: there is no such file`);
  }
}
problems.push(
  ...namedOutside(files.map((file) => ({ file, text: readFileSync(pathOf(file), 'utf8') }))),
);
if (imports === 0) problems.push('nothing was scanned');
for (const problem of problems) console.error(problem);
console.log(`boundaries: ${files.length} files, ${imports} imports, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;

/** Where a file is: names are relative to src/, those of the simulator to the project. */
function pathOf(file: string): string {
  return file.startsWith('simulator/') ? file : `src/${file}`;
}

/** What a file imports or re-exports of our own files, named as `pathOf` takes them. */
function importsOf(file: string): string[] {
  const source = readFileSync(pathOf(file), 'utf8');
  const { module, errors } = parseSync(file, source);
  for (const { message } of errors) problems.push(`${file}: cannot be read: ${message}`);
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
      source.slice(start, end).replaceAll(/^['"`]|['"`]$/g, ''),
    ),
  ];
  return specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.normalize(posix.join(posix.dirname(file), specifier)))
    .map((target) => target.replace(/^\.\.\/simulator\//u, 'simulator/'));
}
