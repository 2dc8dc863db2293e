import { dts } from 'rolldown-plugin-dts';

const isPackage = (id) => /^[^./\0]/u.test(id);

/** What programs import, each without the commands around it: tables for drizzle-orm, and zod schemas. */
const library = { schema: './src/lists/schema.ts', documents: './src/cli/documents.ts' };

const modules = Object.entries(library).map(([name, input]) => ({
  input: { [name]: input },
  platform: 'node',
  external: isPackage,
  treeshake: {
    moduleSideEffects: false,
    manualPureFunctions: ['addressRanking', 'operation', 'z'],
  },
  output: { dir: 'dist', format: 'esm' },
}));

/** Their types, without those of the files that they come from, which need the types of more packages. */
const types = {
  input: library,
  external: isPackage,
  checks: { bundlerTimings: false },
  plugins: [dts({ emitDtsOnly: true, tsgo: { path: 'tsc' }, tsconfig: 'tsconfig.library.json' })],
  output: { dir: 'dist', format: 'esm' },
};

export default [...modules, types];
