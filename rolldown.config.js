import { join } from 'node:path';
import { defineConfig } from 'rolldown';
import license from 'rollup-plugin-license';
import sbom from 'rollup-plugin-sbom';

/**
 * The program and all packages that it uses, in one folder: who installs it installs no other package
 * but a Postgres and a Node. So their licences go along, and a list of them for scanners (CycloneDX).
 */
export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  output: { dir: 'dist', format: 'esm' },
  plugins: [
    license({ thirdParty: { output: join(import.meta.dirname, 'dist/licences.txt') } }),
    // Without a time, and for this folder alone: the same sources make the same package.
    sbom({ outFormats: ['json'], includeWellKnown: false, saveTimestamp: false }),
  ],
});
