import { defineConfig } from 'vitest/config';

/** Pictures of the page for docs/images: `npm run page:pictures`. */
export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts', 'test/harness/browser-setup.ts'],
    include: ['test/pictures/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
