import { defineConfig } from 'rolldown';
import { licensePlugin } from 'rolldown-license-plugin';
import sbom from 'rollup-plugin-sbom';

/** Licences that ask for no more than their text going along. */
const free = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);

/**
 * The program and all packages that it uses, in one folder: who installs it installs hardly another
 * package but a Postgres and a Node. So their licences go along, and a list of them for scanners.
 */
export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  onLog: (level, log, handle) => {
    // It would name every bundler that it can serve among the tools, and warns of those that are not here.
    if (log.plugin === 'rollup-plugin-sbom' && log.message.includes('tool "rollup"')) return;
    handle(level, log);
  },
  output: { dir: 'dist', format: 'esm' },
  plugins: [
    licensePlugin({
      done: (licences, context) => {
        const texts = licences.map(
          ({ name, version, license, licenseText }) =>
            `${name} ${version} (${license})\n\n${licenseText.trim()}\n`,
        );
        context.emitFile({
          type: 'asset',
          fileName: 'licences.txt',
          source: texts.join('\n---\n\n'),
        });
      },
      allow: ({ license }) => free.has(license),
      failOnViolation: true,
      failOnUnlicensed: true,
    }),
    // Without a time, and for this folder alone: the same sources make the same package.
    sbom({ outFormats: ['json'], includeWellKnown: false, saveTimestamp: false }),
  ],
});
