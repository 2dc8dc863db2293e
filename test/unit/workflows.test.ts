import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const readYaml = <Schema extends z.ZodType>(file: string, schema: Schema) =>
  schema.parse(parseDocument(read(file)).toJS());

const permissionsSchema = z.record(z.string(), z.enum(['read', 'write', 'none']));
const stepSchema = z.object({
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).default({}),
});
const workflowSchema = z.object({
  permissions: permissionsSchema,
  jobs: z.record(
    z.string(),
    z.object({ permissions: permissionsSchema.optional(), steps: z.array(stepSchema) }),
  ),
});
const jobs = globSync('.github/workflows/*.yml', { cwd: root }).flatMap((file) => {
  const workflow = readYaml(file, workflowSchema);
  return Object.entries(workflow.jobs).map(([name, { permissions, steps }]) => ({
    name: `${file}: ${name}`,
    permissions: permissions ?? workflow.permissions,
    steps,
  }));
});
const writing = jobs.filter(({ permissions }) => Object.values(permissions).includes('write'));
const actionOf = (uses: string): string => uses.split('@')[0]!;

test('every action is pinned by commit, and names its version', () => {
  const files = ['.github/workflows/*.yml', 'deploy/github-actions/*.yaml'];
  for (const workflow of globSync(files, { cwd: root })) {
    const uses = [...read(workflow).matchAll(/uses: (?<action>.*)$/gmu)];
    expect(uses.length, workflow).toBeGreaterThan(0);
    for (const { groups } of uses) expect(groups!['action']).toMatch(/@[0-9a-f]{40} # v\d/u);
  }
});

/** What a job with rights may do: take artifacts, sign them, publish them. */
const publishingActions = new Set([
  'actions/download-artifact',
  'actions/setup-node',
  'actions/attest-build-provenance',
  'docker/login-action',
  'actions/deploy-pages',
]);
const publishingCommand =
  /^(?:npm publish --ignore-scripts |gh release create |skopeo copy |docker buildx imagetools |echo )/u;

test.each(writing)(
  '$name has write permissions, and runs no code of the repository or of packages',
  (job) => {
    const uses = job.steps.flatMap((step) => step.uses ?? []).map(actionOf);
    expect(uses.filter((action) => !publishingActions.has(action))).toEqual([]);
    const lines = job.steps
      .flatMap(({ run = '' }) => run.split('\n'))
      .filter((line) => line !== '');
    expect(lines.filter((line) => !publishingCommand.test(line))).toEqual([]);
    // A cache is written by jobs that run packages.
    expect(job.steps.filter((step) => step.with['cache'] !== undefined)).toEqual([]);
  },
);

test('no checkout keeps its token', () => {
  expect(writing.length).toBeGreaterThan(1);
  const checkouts = jobs.flatMap(({ steps }) =>
    steps.filter(({ uses }) => uses !== undefined && actionOf(uses) === 'actions/checkout'),
  );
  expect(checkouts.length).toBeGreaterThan(1);
  expect(checkouts.filter((step) => step.with['persist-credentials'] !== false)).toEqual([]);
});

test('Dependabot updates packages, actions and images', () => {
  const update = z.object({ 'package-ecosystem': z.string(), directory: z.string() });
  const { updates } = readYaml('.github/dependabot.yml', z.object({ updates: z.array(update) }));
  const proposed = updates.map((one) => `${one['package-ecosystem']} ${one.directory}`);
  expect(proposed.toSorted()).toEqual([
    'docker /deploy',
    'docker-compose /',
    'docker-compose /test/harness',
    'github-actions /',
    'npm /',
  ]);
});

test('the package is published from a path: without ./ npm takes the name for a repository of GitHub', () => {
  const release = read('.github/workflows/release.yml');
  expect(release).toMatch(/npm publish .* \.\/out\/explorer-etl-\*\.tgz$/mu);
});

test('a release has an image for each architecture, built on its own runner, and lists of what both contain', () => {
  const matrix = z.object({
    include: z.array(z.object({ architecture: z.string(), runner: z.string() })),
  });
  const release = z.object({
    jobs: z.object({ image: z.object({ strategy: z.object({ matrix }) }) }),
  });
  const { image } = readYaml('.github/workflows/release.yml', release).jobs;
  expect(image.strategy.matrix.include).toEqual([
    { architecture: 'amd64', runner: 'ubuntu-24.04' },
    { architecture: 'arm64', runner: 'ubuntu-24.04-arm' },
  ]);
  const text = read('.github/workflows/release.yml');
  for (const { architecture } of image.strategy.matrix.include) {
    expect(text).toContain(`oci-archive:image-${architecture}.tar`);
  }
  expect(text).toMatch(/sbom: generator=\S+\n +provenance: mode=max/u);
  expect(text).toContain('npm sbom --omit=dev');
});

test('the site has every document of docs/ in its sidebar', () => {
  const config = read('docs/.vitepress/config.mjs');
  const pages = [...globSync('docs/*.md', { cwd: root }), 'docs/decisions/README.md'];
  expect(pages.length).toBeGreaterThan(15);
  const named = (page: string) =>
    config.includes(`'${page.replace('docs/', '').replace('.md', '')}'`);
  expect(pages.filter((page) => !named(page))).toEqual([]);
});

test('the package exports its schema, its tables and its documents', () => {
  const { exports, author } = z
    .object({ exports: z.record(z.string(), z.unknown()), author: z.string() })
    .parse(JSON.parse(read('package.json')));
  expect(exports).toEqual({
    './schema': { types: './dist/schema.d.ts', default: './dist/schema.js' },
    './documents': { types: './dist/documents.d.ts', default: './dist/documents.js' },
    './explorer-etl.schema.json': './explorer-etl.schema.json',
    './package.json': './package.json',
  });
  expect(author).toBe('The explorer-etl authors');
  // A fork publishes under its own address.
  for (const field of ['repository.url', 'homepage', 'bugs.url']) {
    expect(read('.github/workflows/release.yml')).toContain(`"${field}=`);
  }
});

test('each template of an issue has a name, and fields with a label', () => {
  const notice = z.object({ type: z.literal('markdown') });
  const input = z.object({ type: z.string(), attributes: z.object({ label: z.string() }) });
  const field = z.union([notice, input]);
  const template = z.object({
    name: z.string(),
    description: z.string(),
    body: z.array(field).min(2),
  });
  const files = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).toSorted();
  expect(files.map((file) => basename(file))).toEqual(['bug.yml', 'config.yml', 'feature.yml']);
  for (const file of files.filter((one) => basename(one) !== 'config.yml')) {
    expect(() => readYaml(file, template), file).not.toThrow();
  }
});
