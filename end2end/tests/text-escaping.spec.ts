// Text from outside stays text: what a person typed and what an agent said, on every page that shows
// it, as the server draws it and as the live page does.

import { expect, test } from '../world.js';
import { badge, live, planTrip, question, step } from '../pages.js';
import type { Page } from '@playwright/test';

const MARKUP = '</script><script>document.title="x"</script>"><img src=x onerror="document.title=1">&amp;';
const SPECIAL = '\u2028line\u202Etxet desrever\u202C javascript:alert(1)';

test.use({
  appEnv: {
    HOLDFAST_WAIT_LANDING_GRACE: '1',
    HOLDFAST_WAIT_SETTLE: '1',
    HOLDFAST_WAIT_POLL: '0.3',
    HOLDFAST_WAIT_UNKNOWN_VERDICT: '1',
  },
});

test('what an agent says and what a person types is shown as text', async ({ page, world, complaints }) => {
  complaints.allow(/the server responded with a status of 422/);
  const reason = `${MARKUP} ${SPECIAL} ${'w'.repeat(20_000)}`;
  await world.outside.behave('citycar', { behaviour: 'rejects', delay_ms: 100, reason });
  await world.outside.behave('metrocar', { behaviour: 'fails', delay_ms: 100, reason });
  await world.signIn(page, 'traveller');
  page.on('dialog', (dialog) => {
    throw new Error(`a dialog: ${dialog.message()}`);
  });
  const title = `${MARKUP.slice(0, 60)} T`;
  const trip = await planTrip(page, { title, origin: '<b>Lisbon', notes: MARKUP, steps: ['car'] });
  const asked = question(page, 'Should the trip go on without it');
  await expect(asked, 'drawn by the live page').toBeVisible({ timeout: 30_000 });
  await shows(page, title, [MARKUP]);
  await expect(step(page, 'Rental car').locator('.attempts')).toContainText(MARKUP);
  const answer = String(await asked.locator('form').getAttribute('action'));
  for (const path of [trip, '/trips', '/inbox', answer, `${trip}/cancel`]) {
    await page.goto(path);
    await shows(page, title, path === trip ? [MARKUP] : []);
  }
  await page.goto(trip);
  await live(page);
  await shows(page, title, [MARKUP]);
  await asked.getByRole('button', { name: 'Go on without it' }).click();
  await expect(badge(page), 'nothing else was wanted').toHaveText('Could not be completed');
  await shows(page, title, [MARKUP]);
});

/** The texts are there as texts, nothing ran, nothing is wider than a small phone. */
async function shows(page: Page, title: string, texts: string[]): Promise<void> {
  const body = page.locator('body');
  for (const text of [title, ...texts]) await expect(body).toContainText(text);
  expect(await page.title()).toContain('· Holdfast');
  await expect(page.locator('main img, main script[src="x"], main b')).toHaveCount(0);
  expect((await body.innerText()).includes('\u202E'), 'nothing turns the text around').toBe(false);
  await page.setViewportSize({ width: 320, height: 640 });
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wider, `${page.url()} at 320 px`).toBe(0);
  await page.setViewportSize({ width: 1280, height: 900 });
}
