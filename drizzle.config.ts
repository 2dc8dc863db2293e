import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./src/**/tables.ts', './src/lists/*/index.ts'],
  out: './migrations',
  schemaFilter: ['explorer', 'etl'],
  migrations: { schema: 'etl', table: 'migrations' },
});
