import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { architecturePage } from '../../scripts/modules-doc.ts';

const root = join(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));
const documents = tracked.filter((path) => path.endsWith('.md'));
/** Documents that name tests by path and title. */
const namingTests = ['docs/guarantees.md', 'src/sync/SPEC.md'];

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function withoutCode(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```/gm, '');
}

/** The anchors that GitHub gives to a document's headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = withoutCode(read(path)).matchAll(/^#+ +(.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Why a link of a document leads nowhere; null if it leads somewhere. */
function brokenLink(document: string, target: string): string | null {
  if (/^[a-z]+:/.test(target)) return null;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? document : relative(root, join(root, dirname(document), path));
  if (!existsSync(join(root, file))) return `${document}: no file ${target}`;
  if (anchor === undefined || statSync(join(root, file)).isDirectory()) return null;
  return anchorsOf(file).has(anchor) ? null : `${document}: no heading ${target}`;
}

/** Paths in backticks that lead into the project; a pattern or a placeholder is none. */
function namedPaths(text: string): string[] {
  const inCode = [...withoutCode(text).matchAll(/`([^`\s]+)`/g)].map(([, code = '']) => code);
  return inCode.filter((code) =>
    /^(src|test|docs|migrations|questions|bench|scripts|deploy|dashboards|bin|sql)\/[\w./-]*[\w/]$/.test(
      code,
    ),
  );
}

/** A test file as one line, as its titles are written. */
function textOf(path: string): string {
  const text = existsSync(join(root, path)) ? read(path) : '';
  return text.replace(/\\(['`])/g, '$1').replace(/\s+/g, ' ');
}

test('every link of the documents leads to a file and a heading', () => {
  const broken = documents.flatMap((document) =>
    [...withoutCode(read(document)).matchAll(/\[[^\]]*\]\(([^()\s]+)\)/g)].flatMap(
      ([, target = '']) => brokenLink(document, target) ?? [],
    ),
  );
  expect(documents.length).toBeGreaterThan(20);
  expect(broken).toEqual([]);
});

test('the runbook of every alert is a heading of a document', () => {
  const alerts = read('deploy/prometheus/alerts.yaml');
  const runbooks = [...alerts.matchAll(/runbook_url: '\{\{ .+? \}\}\/(.+)'/g)];
  expect(runbooks).toHaveLength(alerts.split('- alert:').length - 1);
  const broken = runbooks.flatMap(([, target = '']) => brokenLink('docs/alerts.md', target) ?? []);
  expect(broken).toEqual([]);
});

/** The list that CONTRIBUTING.md adds as its example. */
const example = /\/withdrawals\//;

test('every path that a document names exists', () => {
  const absent = documents.flatMap((document) =>
    namedPaths(read(document))
      .filter((path) => !existsSync(join(root, path)) && !example.test(path))
      .map((path) => `${document}: ${path}`),
  );
  expect(absent).toEqual([]);
});

test('every Markdown file that the code names is one of the project', () => {
  const names = new Set(documents.flatMap((path) => [path, path.split('/').at(-1) ?? '']));
  const code = tracked.filter((path) => /\.(ts|js|sql|css|yaml|yml|conf)$/.test(path));
  const absent = code.flatMap((path) =>
    [...read(path).matchAll(/[\w./-]*\w\.md\b/g)]
      .map(([name]) => name.replace(/^(\/\/[\w.]+\/|\.{0,2}\/)+/, ''))
      .filter((name) => !names.has(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(absent).toEqual([]);
});

/** What follows a test's path up to the end of the sentence: "`path`, title; title." */
function namedTitles(document: string): { readonly path: string; readonly title: string }[] {
  const text = read(document).replace(/\s+/g, ' ');
  const named = text.matchAll(
    /`(test\/[\w./-]+\.test\.ts)`[,:] (?!`test\/)(.+?)(?=\.(?: |$)|,? and `test\/|[,;] `test\/)/g,
  );
  return [...named].flatMap(([, path = '', titles = '']) =>
    titles.split('; ').map((title) => ({ path, title })),
  );
}

/** Whether a file has a test of this title, or one whose title begins with that of its `describe`. */
function hasTitle(text: string, title: string): boolean {
  if (text.includes(title)) return true;
  const words = title.split(' ');
  return words.some((_, at) => {
    const [group, own] = [words.slice(0, at).join(' '), words.slice(at).join(' ')];
    return at > 0 && text.includes(`${group}'`) && text.includes(`'${own}`);
  });
}

test('every test that the guarantees and the specification name exists by its title', () => {
  const named = namingTests.flatMap(namedTitles);
  const absent = named
    .filter(({ path, title }) => !hasTitle(textOf(path), title))
    .map(({ path, title }) => `${path}: ${title}`);
  expect(named.length).toBeGreaterThan(50);
  expect(absent).toEqual([]);
});

test('docs/architecture.md has the modules of scripts/layers.ts', async () => {
  const written = read('docs/architecture.md');
  expect(written, 'docs/architecture.md is out of date: run npm run generate modules').toBe(
    await architecturePage(),
  );
});
