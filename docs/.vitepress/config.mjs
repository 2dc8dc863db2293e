// The documents as a site with a search: `npx vitepress@1.6.4 build docs`, in .github/workflows/docs.yml.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** The address of the repository. */
const source = process.env['DOCS_SOURCE'] ?? '';
/** The heading of a document, for the sidebar and llms.txt. */
const titleOf = (page) => /^# (.+)$/mu.exec(readFileSync(join('docs', page), 'utf8'))?.[1] ?? page;
/** Pages whose address is that of their folder. */
const rewrites = { 'getting-started.md': 'index.md', 'decisions/README.md': 'decisions/index.md' };
const item = (page) => ({
  text: titleOf(page),
  link: `/${rewrites[page]?.replace('index.md', '') ?? page}`,
});
const use = [
  'getting-started',
  'configuration',
  'api-costs',
  'tables',
  'dashboards',
  'export',
  'follow-changes',
  'dbt',
  'mcp',
];
const run = ['operating', 'managed-postgres', 'http', 'metrics', 'alerts', 'logs', 'json', 'scale'];
const understand = [
  'guarantees',
  'benchmarks',
  'architecture',
  'addresses',
  'decisions/README',
  'SECURITY',
];
const groups = { 'Use it': use, 'Run it': run, 'Understand it': understand };

/** A link to what is no page leads to the repository. */
function linkToRepository(md) {
  const plain = md.renderer.rules.link_open;
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index].attrGet('href') ?? '';
    const path = posix.join('docs', posix.dirname(env.relativePath ?? ''), href);
    const isPage = path.startsWith('docs/') && /(?:\.md|\/)(?:#|$)/u.test(path);
    if (!/^(?:#|[a-z]+:)/u.test(href) && !isPage) {
      tokens[index].attrSet('href', `${source}/blob/main/${path}`);
      return self.renderToken(tokens, index, options);
    }
    tokens[index].attrSet('href', href.replace('getting-started.md', 'index.md'));
    return plain(tokens, index, options, env, self);
  };
}

/** A block of commands that is indented looks like one with a language, and scrolls by itself. */
function showCommands(md) {
  md.renderer.rules.code_block = (tokens, index, ...rest) => {
    tokens[index].info = 'sh';
    return md.renderer.rules.fence(tokens, index, ...rest);
  };
}

export default {
  title: 'explorer-etl',
  description:
    'Mirrors Blockscout data into Postgres, keeps it current, and verifies that nothing is missing.',
  base: process.env['DOCS_BASE'] ?? '/',
  outDir: '.vitepress/dist',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  rewrites,
  markdown: {
    config(md) {
      linkToRepository(md);
      showCommands(md);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: Object.entries(groups).map(([text, pages]) => ({
      text,
      items: pages.map((page) => item(`${page}.md`)),
    })),
  },
  /** llms.txt lists the documents, each beside its page as Markdown. */
  buildEnd({ pages, outDir }) {
    const lines = pages.map((page) => `- [${titleOf(page)}](${page})`);
    for (const page of pages) {
      mkdirSync(dirname(join(outDir, page)), { recursive: true });
      copyFileSync(join('docs', page), join(outDir, page));
    }
    writeFileSync(join(outDir, 'llms.txt'), `# explorer-etl\n\n${lines.join('\n')}\n`);
  },
};
