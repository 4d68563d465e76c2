// The live page: drawn by the server, then by the browser, without a seam; and what is left of it
// when the stream or the module cannot be had.

import { expect, test } from '../world.js';
import { badge, freshness, live, planTrip, question, step } from '../pages.js';
import type { Page, Request } from '@playwright/test';

test.use({
  appEnv: { HOLDFAST_WAIT_LANDING_GRACE: '1', HOLDFAST_WAIT_SETTLE: '1', HOLDFAST_WAIT_POLL: '0.3' },
});

test.describe('in India, in German', () => {
  test.use({ timezoneId: 'Asia/Kolkata', locale: 'de-DE' });

  test('what happens between the server’s drawing and the browser’s is not lost, nor drawn twice', async ({
    page,
    world,
  }) => {
    await world.outside.behave('skylark-flights', { behaviour: 'works', delay_ms: 100 });
    await world.signIn(page, 'traveller');
    // An extension that puts things of its own into every page.
    await page.addInitScript(() => {
      document.addEventListener('DOMContentLoaded', () => {
        document.documentElement.setAttribute('data-extension', 'yes');
        document.body.append(Object.assign(document.createElement('div'), { className: 'extension', hidden: true }));
      });
    });
    const letGo = await withhold(page, /\.wasm$/);
    await planTrip(page, { steps: ['flight'] });
    await expect(freshness(page)).toContainText('Reload it to see what is new');
    const utc = page.locator('.history time').last();
    await expect(utc).toHaveText(/ UTC$/);
    await expect
      .poll(async () => (await (await world.api('/trips')).json()).trips?.[0]?.state ?? 'unknown')
      .toBe('done');
    await expect(badge(page), 'drawn before that').not.toHaveText('Done');

    letGo();
    await live(page);
    await expect(badge(page)).toHaveText('Done');
    await expect(step(page, 'Flight')).toHaveCount(1);
    const moment = page.locator('.history time').last();
    const at = new Date(String(await moment.getAttribute('datetime')));
    const local = new Intl.DateTimeFormat('de-DE', { timeZone: 'Asia/Kolkata', timeStyle: 'short' }).format(at);
    await expect(moment).toHaveText(local);
    await expect(moment).toHaveAttribute('title', / UTC$/);
    for (const path of ['/trips', '/inbox']) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    }
    await page.goto('/trips');
    await expect(page.locator('time').first()).toHaveText(local);
  });
});

test('a page whose module cannot be loaded reads, and its forms work', async ({ page, world, complaints }) => {
  complaints.allow(/Failed to load resource: net::ERR_FAILED.*\.wasm|thrown: .*(fetch|wasm)|preloaded using link preload/i);
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 100 });
  await page.route(/\.wasm$/, (route) => route.abort());
  await world.signIn(page, 'traveller');
  await planTrip(page, { steps: ['hotel'] });
  await expect(async () => {
    await page.reload();
    await expect(question(page, 'Two rooms or one?')).toBeVisible({ timeout: 100 });
  }).toPass();
  await expect(freshness(page)).toContainText('Reload it to see what is new');
  await question(page, 'Two rooms or one?').getByRole('button', { name: 'One room' }).click();
  await expect(page.locator('.flash')).toHaveText('Your answer is recorded.');
});

test('a hidden page lets its stream go, and has the whole view again when it is shown', async ({ page, world }) => {
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 1_500 });
  await world.signIn(page, 'traveller');
  const streams: Request[] = [];
  page.on('request', (request) => request.url().endsWith('/live') && streams.push(request));
  const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/live'));
  await planTrip(page, { steps: ['hotel'] });
  await live(page);
  await beSeen(page, 'hidden');
  expect(await ended).toBe(streams[0]);
  await expect.poll(async () => (await world.outside.calls('harbour-hotels')).length).toBeGreaterThan(0);
  await expect
    .poll(async () => (await (await world.api('/questions')).json()).questions?.length ?? 0)
    .toBe(1);
  await expect(page.locator('.question')).toHaveCount(0);
  await beSeen(page, 'visible');
  await expect(question(page, 'Two rooms or one?')).toBeVisible();
  await live(page);
  expect(streams).toHaveLength(2);
});

test('what is typed or opened on the page outlives every update', async ({ page, world }) => {
  await world.outside.behave('skylark-flights', { behaviour: 'works', delay_ms: 1_500 });
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 50 });
  await world.signIn(page, 'traveller');
  await planTrip(page, { steps: ['flight', 'hotel'] });
  const button = question(page, 'Two rooms or one?').getByRole('button', { name: 'One room' });
  await button.focus();
  await page.getByText('Technical details').click();
  await button.focus();
  await expect(step(page, 'Flight').getByText('Verified in the booking system’s records')).toBeVisible();
  await expect(button, 'the focus stays').toBeFocused();
  await expect(page.locator('.technical').first(), 'what was opened stays open').toBeVisible();
});

/** Keeps answers back until told to let them go. */
async function withhold(page: Page, address: RegExp): Promise<() => void> {
  let letGo = (): void => undefined;
  const told = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(address, async (route) => {
    await told;
    await route.continue();
  });
  return letGo;
}

/** What happens when a person goes to another tab, or comes back. */
async function beSeen(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}
