// What people do and see on the pages, for tests to put together.

import { expect, type Locator, type Page, type Response } from '@playwright/test';

/** What is typed into the form of a new trip. */
export interface Wish {
  origin: string;
  destination: string;
  start: string;
  end: string;
  travellers: string;
  notes: string;
  title: string;
  steps: string[];
}

/** A date so many days from now, as a date field takes it. */
export function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

const LISBON_TO_BERLIN: Wish = {
  origin: 'Lisbon',
  destination: 'Berlin',
  start: inDays(60),
  end: inDays(64),
  travellers: '2',
  notes: '',
  title: '',
  steps: ['flight', 'hotel', 'car'],
};

/** Fills in the form of a new trip, on the page that shows it. */
export async function fillIn(page: Page, wish: Partial<Wish> = {}): Promise<void> {
  const { steps, ...fields } = { ...LISBON_TO_BERLIN, ...wish };
  for (const [name, value] of Object.entries(fields)) {
    await page.locator(`[name=${name}]`).fill(value);
  }
  for (const box of await page.locator('input[name=steps]').all()) {
    await box.setChecked(steps.includes((await box.getAttribute('value')) ?? ''));
  }
}

/** Plans a trip by the form; gives the trip's path. */
export async function planTrip(page: Page, wish: Partial<Wish> = {}): Promise<string> {
  await page.goto('/trips/new');
  await fillIn(page, wish);
  await page.getByRole('button', { name: 'Start booking' }).click();
  await page.waitForURL(/\/trips\/(?!new)[^/]+$/);
  return new URL(page.url()).pathname;
}

/** Presses a button that sends a form; gives the answer to that POST. */
export async function send(page: Page, button: Locator): Promise<Response> {
  const answer = page.waitForResponse(
    (response) => response.request().isNavigationRequest() && response.request().method() === 'POST',
  );
  await button.click();
  const response = await answer;
  await page.waitForLoadState();
  return response;
}

/** A step of the itinerary, by its title. */
export function step(page: Page, title: string): Locator {
  return page.locator('.step', { has: page.getByRole('heading', { name: title, exact: true }) });
}

/** The state of a trip, above its sentence. */
export function badge(page: Page): Locator {
  return page.locator('.trip-head .badge');
}

/** How fresh a trip's page says that it is. */
export function freshness(page: Page): Locator {
  return page.locator('.link-state');
}

/** Waits until a trip's page follows the trip. */
export async function live(page: Page): Promise<void> {
  await expect(freshness(page)).toHaveText('Live');
}

/** An open question, by what is asked. */
export function question(page: Page, text: string): Locator {
  return page.locator('.question', { has: page.getByText(text) });
}

const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** Four pictures of a whole page: desktop and phone, light and dark. */
export async function picture(page: Page, folder: string, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}/${name}-${size}-${colorScheme}.png`, fullPage: true, animations: 'disabled' });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  if (before !== null) await page.setViewportSize(before);
}
