/**
 * Holds the import boundaries of `scripts/floors.ts`, and fails when the scan saw fewer
 * modules than there are source files: dependency-cruiser without a working parser scans nothing
 * and reports success.
 */
import { globSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import { forbidden } from './floors.ts';

const files = globSync('src/**/*.ts');
const { output } = await cruise(['src'], {
  parser: 'swc',
  doNotFollow: { path: 'node_modules' },
  tsPreCompilationDeps: true,
  ruleSet: { forbidden },
  validate: true,
});
if (typeof output === 'string') throw new Error('expected a structured result');

const scanned = new Set(output.modules.map((module) => module.source));
const missed = files.filter((file) => !scanned.has(file));
const imports = output.modules.reduce((sum, module) => sum + module.dependencies.length, 0);

for (const violation of output.summary.violations) {
  console.error(`${violation.from} -> ${violation.to}: ${violation.rule.name}`);
}
for (const file of missed) console.error(`${file}: not scanned`);
if (files.length === 0 || imports === 0) console.error('nothing was scanned');
console.log(
  `boundaries: ${scanned.size} modules, ${imports} imports, ${output.summary.violations.length} violations`,
);
if (
  files.length === 0 ||
  imports === 0 ||
  missed.length > 0 ||
  output.summary.violations.length > 0
) {
  process.exitCode = 1;
}
