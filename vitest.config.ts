import { defineConfig } from 'vitest/config';
import { repairDriverTransform } from './scripts/repair-driver.mjs';

export default defineConfig({
  plugins: [repairDriverTransform],
  test: {
    server: { deps: { inline: ['postgres'] } },
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['test/servers/share-servers.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
