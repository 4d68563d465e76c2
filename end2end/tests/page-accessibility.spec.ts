// Every page, in each state that it has, in light and dark: nothing for axe to object to, nothing
// that scrolls sideways at 320 px, a strict policy, and all of it by keyboard.

import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from '../world.js';
import { badge, live, planTrip, question, send, step } from '../pages.js';
import type { Page, Response } from '@playwright/test';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];
const COLOURS = ['color-contrast', 'link-in-text-block'];

test.use({
  contextOptions: { reducedMotion: 'reduce' },
  appEnv: {
    HOLDFAST_WAIT_LANDING_GRACE: '1',
    HOLDFAST_WAIT_SETTLE: '1',
    HOLDFAST_WAIT_POLL: '0.3',
    HOLDFAST_WAIT_UNKNOWN_VERDICT: '1',
  },
});

test.beforeEach(({ complaints }) => {
  complaints.allow(/the server responded with a status of (403|404|422)/);
});

test('a stranger’s pages', async ({ page }) => {
  await visit(page, '/login');
  await examine(page, 'sign in');
  await send(page, page.getByRole('button', { name: 'Sign in' }));
  await examine(page, 'sign in, refused');
});

test('a traveller’s pages, through the life of a trip', async ({ page, world }) => {
  await world.outside.behave('skylark-flights', { behaviour: 'works', delay_ms: 100 });
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 100 });
  await world.signIn(page, 'traveller');
  for (const [path, name] of [
    ['/trips', 'no trips'],
    ['/inbox', 'no questions'],
    ['/trips/new', 'new trip'],
    ['/trips/nowhere', 'not found'],
  ] as const) {
    await visit(page, path);
    await examine(page, name);
  }
  await page.goto('/trips/new');
  await send(page, page.getByRole('button', { name: 'Start booking' }));
  await examine(page, 'new trip, filled in wrongly');

  const trip = await planTrip(page);
  await live(page);
  await expect(question(page, 'Two rooms or one?')).toBeVisible();
  await expect(step(page, 'Flight').getByText('Verified in the booking system’s records')).toBeVisible();
  await examine(page, 'trip with a question');
  const asked = String(await question(page, 'Two rooms or one?').locator('form').getAttribute('action'));
  for (const path of ['/trips', '/inbox', asked]) {
    await visit(page, path);
    await examine(page, path === asked ? 'question' : `${path}, filled`);
  }
  await page.goto(trip);
  await question(page, 'Two rooms or one?').getByRole('button', { name: 'One room' }).click();
  await expect(question(page, 'Should the trip go on without it')).toBeVisible({ timeout: 30_000 });
  await expect(step(page, 'Hotel').getByText('Verified in the booking system’s records')).toBeVisible();
  await page.locator('details.settled summary').click();
  await page.getByText('Technical details').click();
  await examine(page, 'trip with a decision, all opened');

  await visit(page, asked);
  await examine(page, 'question that has ended');
  await visit(page, `${trip}/cancel`);
  await examine(page, 'cancel');
  await world.outside.system('harbour-hotels', { cancel: 'error', times: 3 });
  await page.getByRole('button', { name: 'Cancel this trip' }).click();
  await expect(badge(page)).toHaveText('Undoing bookings');
  await expect(page.locator('.ladder .note')).toBeVisible();
  await examine(page, 'trip that is being undone');
  await expect(badge(page)).toHaveText('Cancelled', { timeout: 30_000 });
  await examine(page, 'cancelled trip');
  await visit(page, `${trip}/cancel`);
  await examine(page, 'cancel, refused');
});

test('what support sees, and a trip that is stuck', async ({ page, browser, world }) => {
  await world.outside.behave('skylark-flights', { behaviour: 'works', delay_ms: 100 });
  await world.outside.behave('harbour-hotels', { behaviour: 'auth', delay_ms: 100 });
  const desk = await (await browser.newContext({ baseURL: world.app.url, reducedMotion: 'reduce' })).newPage();
  await world.signIn(desk, 'support');
  await visit(desk, '/desk');
  await expect(desk.getByText('Nothing is stuck.')).toBeVisible();
  await examine(desk, 'empty desk');

  await world.outside.system('northwind-air', { lookup: 'error' });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { steps: ['flight', 'hotel'] });
  await live(page);
  await expect(badge(page)).toHaveText('With our support', { timeout: 30_000 });
  await expect(page.locator('.out-link')).toBeVisible();
  await examine(page, 'stuck trip, and a question with a link');
  await visit(desk, trip);
  await live(desk);
  await examine(desk, 'a traveller’s trip, seen by support');
  await visit(desk, '/desk');
  await expect(desk.locator('.case')).toHaveCount(1);
  await examine(desk, 'desk with a case');
  await send(desk, desk.getByRole('button', { name: /^Check/ }).first());
  await examine(desk, 'desk, filled in wrongly');
  await desk.locator('.case a').first().click();
  await expect(desk).toHaveURL(/\/desk\/cases\//);
  const found = new URL(desk.url()).pathname;
  await visit(desk, found);
  await examine(desk, 'case');
  const check = desk.getByRole('button', { name: 'Check now' });
  expect((await send(desk, check)).status()).toBe(422);
  expect((await send(desk, desk.getByRole('button', { name: 'Sign for this outcome' }))).status()).toBe(422);
  await examine(desk, 'case, filled in wrongly');
  await visit(desk, found);
  await desk.locator('[name=check_reason]').fill('The airline says that its records are back.');
  expect((await send(desk, check)).status()).toBe(303);
  await expect(desk.locator('.flash')).toContainText('Requested and taken in');
  await visit(desk, '/desk');
  await desk.locator('.case-choose input').first().check();
  await desk.locator('[name=reason]').fill('All of them, once more.');
  await desk.getByRole('button', { name: /^Check/ }).first().click();
  await expect(desk).toHaveURL(/\/desk\/checked/);
  await expect(desk.locator('.sum')).toContainText('1 requested, 1 accepted');
  await examine(desk, 'what came of a check');

  await world.outside.system('northwind-air', {});
  await expect(async () => {
    await desk.goto(found);
    await expect(desk.locator('.case-state')).toHaveText('Not stuck any more', { timeout: 100 });
  }).toPass({ timeout: 30_000 });
  await examine(desk, 'case that has ended');
  await expect(step(page, 'Flight'), 'the traveller sees it at once').toContainText('Verified in the booking');
  await visit(page, '/desk');
  await expect(page.getByRole('heading', { level: 1 }), 'travellers have no desk').toHaveText('There is nothing here');
  await desk.context().close();
});

test('a question is found and answered by keyboard alone', async ({ page, world }) => {
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 100 });
  await world.signIn(page, 'traveller');
  await planTrip(page, { steps: ['hotel'] });
  await expect(question(page, 'Two rooms or one?')).toBeVisible();
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to the content' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'One room' })).toBeFocused();
  await page.keyboard.press('Tab');
  const two = page.getByRole('button', { name: 'Two rooms' });
  await expect(two).toBeFocused();
  expect(await two.evaluate((button) => getComputedStyle(button).outlineStyle), 'the focus is seen').toBe('solid');
  await page.keyboard.press('Enter');
  await expect(page.locator('.flash')).toHaveText('Your answer is recorded.');
  await expect(badge(page)).toHaveText('Done', { timeout: 30_000 });
});

/** Goes to a page, and looks at the policy that protects it. */
async function visit(page: Page, path: string): Promise<Response | null> {
  const answer = await page.goto(path);
  const policy = answer?.headers()['content-security-policy'] ?? '';
  expect(policy, path).toMatch(/script-src 'nonce-[^']+' 'strict-dynamic' 'wasm-unsafe-eval';/);
  for (const part of ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"]) {
    expect(policy, path).toContain(part);
  }
  expect(policy, path).not.toContain('unsafe-inline');
  return answer;
}

/** Nothing to object to in light and dark, nothing wider than a small phone. */
async function examine(page: Page, name: string): Promise<void> {
  const before = page.viewportSize() ?? { width: 1280, height: 900 };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] });
    // Between light and dark only colours differ.
    if (colorScheme === 'light') axe.withTags(RULES);
    else axe.withRules(COLOURS);
    const { violations } = await axe.analyze();
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n')}`);
    expect.soft(told, `${name}, ${colorScheme}`).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  const wider = await page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    const inside = (element: Element) => element.closest('.scroll, .hidden-words') !== null;
    const all = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > room + 1);
    return document.documentElement.scrollWidth > room ? all.filter((one) => !inside(one)).map((one) => one.outerHTML.slice(0, 200)) : [];
  });
  expect.soft(wider, `${name}, at 320 px`).toEqual([]);
  await page.setViewportSize(before);
}
