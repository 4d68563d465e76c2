import { defineConfig } from '@playwright/test';
import type { WorldOptions } from './world.js';

// There is no webServer here: each test has a world of its own, see world.ts.
export default defineConfig<WorldOptions>({
  testDir: './tests',
  outputDir: './test-results',
  // Each test starts two servers and drives a browser: one at a time keeps their waits honest.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  forbidOnly: process.env.CI !== undefined,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  reporter: [
    ['list'],
    ['json', { outputFile: process.env.HOLDFAST_PLAYWRIGHT_JSON ?? 'test-results/results.json' }],
  ],
  use: {
    browserName: 'chromium',
    headless: true,
    actionTimeout: 15_000,
    viewport: { width: 1280, height: 900 },
    screenshot: 'only-on-failure',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
