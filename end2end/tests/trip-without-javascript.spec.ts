// Everything that a traveller does, in a browser without JavaScript: every page reads, every form is
// a plain POST, and what was filled in wrongly comes back with its message and what was typed.

import { ACCOUNTS, expect, test } from '../world.js';
import { badge, fillIn, freshness, inDays, planTrip, question, send, step } from '../pages.js';
import type { Locator, Page } from '@playwright/test';

test.use({
  javaScriptEnabled: false,
  appEnv: { HOLDFAST_WAIT_LANDING_GRACE: '1', HOLDFAST_WAIT_SETTLE: '1', HOLDFAST_WAIT_POLL: '0.3' },
});

test.beforeEach(({ complaints }) => {
  // The browser's own line for a page with such a status.
  complaints.allow(/the server responded with a status of (404|409|422)/);
  complaints.allow(/\.wasm was preloaded using link preload but not used/);
});

test('signing in, and what is wrong with it told', async ({ page }) => {
  await page.goto('/trips');
  await expect(page).toHaveURL(/\/login/);
  const button = page.getByRole('button', { name: 'Sign in' });
  const empty = await send(page, button);
  expect(empty.status()).toBe(422);
  await expect(page.getByRole('alert')).toContainText('Please give both your e-mail and your password.');
  await page.getByLabel('E-mail').fill(ACCOUNTS.traveller.email);
  await page.getByLabel('Password').fill('wrong');
  expect((await send(page, button)).status()).toBe(422);
  await expect(page.getByRole('alert')).toContainText('do not belong together');
  await expect(page.getByLabel('E-mail')).toHaveValue(ACCOUNTS.traveller.email);
  await page.getByLabel('Password').fill(ACCOUNTS.traveller.password);
  expect((await send(page, button)).status()).toBe(303);
  await expect(page.getByRole('heading', { name: 'No trips yet' })).toBeVisible();
});

test('a form that is filled in wrongly comes back, each message beside its field', async ({ page, world }) => {
  await world.signIn(page, 'traveller');
  await page.goto('/trips/new');
  const key = await page.locator('[name=idempotency_key]').inputValue();

  await test.step('nothing filled in', async () => {
    await fillIn(page, { origin: '', destination: '', start: '', end: '', travellers: '', steps: [] });
    await page.getByLabel('Name of the trip').fill('Kept all the same');
    expect(await refused(page)).toEqual(['origin', 'destination', 'start', 'end', 'travellers', 'steps']);
    await expect(wrong(page, 'origin')).toHaveText('Please fill in: From.');
    await expect(wrong(page, 'start')).toHaveText('Please fill in: First day.');
    await expect(wrong(page, 'steps')).toHaveText('Choose at least one.');
    await expect(page.getByLabel('Name of the trip')).toHaveValue('Kept all the same');
    for (const box of await page.locator('input[name=steps]').all()) await expect(box).not.toBeChecked();
  });

  await test.step('dates that there are not', async () => {
    await fillIn(page, { title: 'Kept all the same' });
    await type(page.locator('[name=start]'), `${inDays(60).slice(0, 4)}-02-30`);
    await type(page.locator('[name=end]'), 'soon');
    expect(await refused(page)).toEqual(['start', 'end']);
    await expect(wrong(page, 'start')).toContainText('-02-30" is not a day of the calendar.');
    await expect(wrong(page, 'end')).toContainText('"soon" is not a day of the calendar. Use year-month-day');
    await expect(page.locator('[name=start]')).toHaveValue(/-02-30$/);
    await expect(page.locator('[name=end]')).toHaveValue('soon');
    await expect(page.locator('[name=origin]')).toHaveValue('Lisbon');
  });

  await test.step('a date that has passed, one that is too far', async () => {
    await fillIn(page, { start: inDays(-30), end: inDays(3000) });
    expect(await refused(page)).toEqual(['start', 'end']);
    await expect(wrong(page, 'start')).toContainText('is in the past. Choose');
    await expect(wrong(page, 'end')).toContainText('is more than three years ahead');
    await expect(page.locator('[name=start]')).toHaveValue(inDays(-30));
  });

  await test.step('the end before the start', async () => {
    await fillIn(page, { start: inDays(20), end: inDays(10), steps: ['hotel'] });
    expect(await refused(page)).toEqual(['end']);
    await expect(wrong(page, 'end')).toContainText(`Last day is before First day (${inDays(20)}).`);
    await expect(page.locator('[name=end]')).toHaveValue(inDays(10));
    await expect(page.getByLabel('Hotel')).toBeChecked();
    await expect(page.getByLabel('Flight')).not.toBeChecked();
  });

  await test.step('no number of travellers, and too many', async () => {
    for (const travellers of ['two', '40']) {
      await fillIn(page, { travellers });
      expect(await refused(page)).toEqual(['travellers']);
      await expect(wrong(page, 'travellers')).toHaveText('Travellers must be a whole number from 1 to 9.');
      await expect(page.locator('[name=travellers]')).toHaveValue(travellers);
    }
  });

  await test.step('100 kB of notes', async () => {
    const notes = '</textarea><b>é & more</b>\n'.repeat(4_000);
    await fillIn(page);
    await paste(page.locator('[name=notes]'), notes);
    expect(await refused(page)).toEqual(['notes']);
    await expect(wrong(page, 'notes')).toContainText('characters; at most 2000 fit.');
    await expect(page.locator('[name=notes]')).toHaveValue(notes);
  });

  await test.step('the summary leads to the fields', async () => {
    const link = page.getByRole('alert').getByRole('link', { name: 'at most 2000 fit' });
    await expect(link).toHaveAttribute('href', '#field-notes');
    await expect(page.locator('[name=notes]')).toHaveAttribute('aria-invalid', 'true');
  });

  expect(await page.locator('[name=idempotency_key]').inputValue(), 'still the same form').toBe(key);
  await page.goto('/trips');
  await expect(page.getByRole('heading', { name: 'No trips yet' }), 'nothing was recorded').toBeVisible();
});

test('more than a form may hold is refused as a whole, in words', async ({ page, world, complaints }) => {
  complaints.allow(/the server responded with a status of 413/);
  await world.signIn(page, 'traveller');
  await page.goto('/trips/new');
  await fillIn(page);
  await paste(page.locator('[name=notes]'), 'x'.repeat(600_000));
  const answer = await send(page, page.getByRole('button', { name: 'Start booking' }));
  expect(answer.status()).toBe(413);
  await expect(page.getByRole('heading')).toHaveText('That is too much text');
  await page.goBack();
  await expect(page.getByLabel('From'), 'as it says, what was typed is still there').toHaveValue('Lisbon');
});

test('a trip is made, read, asked about, answered and undone by plain forms', async ({ page, context, world }) => {
  const markup = '<script>document.title = "x"</script><img src=x onerror="alert(1)"> & "quotes"';
  await world.outside.behave('skylark-flights', { behaviour: 'works', delay_ms: 200 });
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 200 });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { notes: markup, steps: ['flight', 'hotel'] });

  await test.step('the page reads, and says that it does not follow', async () => {
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Lisbon to Berlin');
    await expect(freshness(page)).toContainText('Reload it to see what is new');
    await expect(page.locator('.wish')).toContainText(markup);
    await expect(page).toHaveTitle('Lisbon to Berlin · Holdfast');
  });

  await test.step('a question is answered, and a second answer is refused with the reason', async () => {
    await reloadUntil(page, question(page, 'Two rooms or one?'));
    await expect(badge(page)).toHaveText('Needs your answer');
    await page.goto('/inbox');
    await expect(question(page, 'Two rooms or one?')).toContainText('Lisbon to Berlin');
    await expect(page.locator('time').first()).toContainText('UTC');
    const late = await context.newPage();
    await late.goto('/inbox');
    expect((await send(page, page.getByRole('button', { name: 'Two rooms' }))).status()).toBe(303);
    await expect(page).toHaveURL(trip);
    await expect(page.locator('.flash')).toHaveText('Your answer is recorded.');

    expect((await send(late, late.getByRole('button', { name: 'One room' }))).status()).toBe(409);
    await expect(late.getByRole('alert')).toContainText(`answered already by ${ACCOUNTS.traveller.email}`);
    await expect(late.getByRole('heading', { level: 1 })).toHaveText('A question that has ended');
    await expect(late.locator('.question')).toContainText('Answered by traveller@example.org: “Two rooms”');
    await late.close();
  });

  await test.step('both are verified', async () => {
    await reloadUntil(page, badge(page).getByText('Done'));
    await expect(page.getByText('Verified in the booking system’s records')).toHaveCount(2);
    await expect(step(page, 'Hotel')).toContainText('992.00');
  });
});

test('a trip is cancelled once, however often that is pressed', async ({ page, context, world }) => {
  await world.outside.behave('skylark-flights', { behaviour: 'works', delay_ms: 100 });
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 100 });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { steps: ['flight', 'hotel'] });
  await reloadUntil(page, step(page, 'Flight').getByText('Verified in the booking system’s records'));
  await reloadUntil(page, question(page, 'Two rooms or one?'));
  const asked = await context.newPage();
  await asked.goto(trip);
  const [first, second, third] = [page, await context.newPage(), await context.newPage()];
  for (const one of [first, second, third]) {
    await one.goto(trip);
    await one.getByRole('link', { name: 'Cancel this trip…' }).click();
    await expect(one.getByRole('heading', { level: 1 })).toHaveText('Cancel Lisbon to Berlin?');
  }
  await expect(first.getByRole('heading', { name: 'First, we call off what is still being booked' })).toBeVisible();
  await expect(first.locator('.plain-list')).toHaveText('Hotel');
  await expect(first.locator('.rung')).toContainText('Comes back387.00');

  const press = (one: Page) => send(one, one.getByRole('button', { name: 'Cancel this trip' }));
  expect((await press(first)).status()).toBe(303);
  await expect(first.locator('.flash')).toContainText('Your cancellation is recorded.');
  expect((await press(second)).status()).toBe(303);
  await expect(second).toHaveURL(trip);
  await expect(second.locator('.flash')).toHaveText('This trip was already being ended; nothing changed.');

  await reloadUntil(page, badge(page).getByText('Cancelled'));
  await expect(page.locator('.history').getByText('Asked for the trip to be cancelled and undone')).toHaveCount(1);
  expect((await press(third)).status()).toBe(409);
  await expect(third.getByRole('alert')).toContainText('this trip is closed and can no longer be cancelled');
  await expect(third.locator('.note')).toHaveText('This trip is closed.');

  expect((await send(asked, asked.getByRole('button', { name: 'Two rooms' }))).status(), 'too late').toBe(409);
  await expect(asked.getByRole('heading', { level: 1 })).toHaveText('A question that has ended');
  await expect(asked.getByRole('alert')).toContainText('the trip is ending');
  expect(await world.outside.standing()).toEqual([]);
});

test('a form that is sent twice makes one trip', async ({ page, context, world }) => {
  await world.outside.behave('skylark-flights', { behaviour: 'goes_quiet' });
  await world.signIn(page, 'traveller');
  await page.goto('/trips/new');
  await fillIn(page, { steps: ['flight'] });
  const fields = await page.locator('form[action="/trips/new"]').evaluate((form) => {
    const pairs = [...new FormData(form as HTMLFormElement)].map(([name, value]) => [name, String(value)]);
    return new URLSearchParams(pairs).toString();
  });
  await page.getByRole('button', { name: 'Start booking' }).dblclick();
  await page.waitForURL(/\/trips\/(?!new)/);
  const trip = new URL(page.url()).pathname;
  const again = (body: string) =>
    context.request.post('/trips/new', {
      data: body,
      headers: { origin: world.app.url, 'content-type': 'application/x-www-form-urlencoded' },
      maxRedirects: 0,
    });
  const answer = await again(fields);
  expect([answer.status(), answer.headers()['location']]).toEqual([303, trip]);
  expect((await again(fields.replace('Lisbon', 'Porto'))).status(), 'the same key, another wish').toBe(409);

  await page.goto('/trips');
  await expect(page.locator('.trip-card')).toHaveCount(1);
});

test('what is not there and what is somebody else’s look the same', async ({ page, browser, world }) => {
  await world.outside.behave('skylark-flights', { behaviour: 'asks', delay_ms: 100 });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { steps: ['flight'] });
  await reloadUntil(page, page.locator('.question'));
  const asked = String(await page.locator('.question form').getAttribute('action'));
  const other = await browser.newContext({ javaScriptEnabled: false, baseURL: world.app.url });
  const stranger = await other.newPage();
  await world.signIn(stranger, 'secondTraveller');
  const unknown = trip.replace(/.$/, trip.endsWith('0') ? '1' : '0');
  for (const [theirs, nobodys] of [
    [trip, unknown],
    [`${trip}/cancel`, `${unknown}/cancel`],
    [asked, asked.replace(trip, unknown)],
  ] as const) {
    const pages: string[] = [];
    for (const path of [theirs, nobodys]) {
      const answer = await stranger.goto(path);
      expect(answer?.status(), path).toBe(404);
      await expect(stranger.getByRole('heading', { level: 1 })).toHaveText('There is nothing here');
      pages.push(await stranger.locator('body').innerText());
    }
    expect(pages[0]).toBe(pages[1]);
    await expect(stranger.getByText('Lisbon')).toHaveCount(0);
  }
  for (const path of [`${trip}/cancel`, asked]) {
    const headers = { origin: world.app.url };
    const answer = await other.request.post(path, { form: { confirm: 'yes', choice: 'together' }, headers });
    expect(answer.status(), path).toBe(404);
  }
  await stranger.goto('/trips');
  await expect(stranger.getByRole('heading', { name: 'No trips yet' })).toBeVisible();
  await other.close();
  await page.reload();
  await expect(badge(page), 'nothing came of it').toHaveText('Needs your answer');
});

/** Sends the form of a new trip; gives the fields that have a message beside them, in their order. */
async function refused(page: Page): Promise<string[]> {
  const answer = await send(page, page.getByRole('button', { name: 'Start booking' }));
  expect(answer.status()).toBe(422);
  await expect(page.getByRole('heading', { name: 'Something needs another look' })).toBeVisible();
  const marks = await page.locator('.field-error').evaluateAll((all) => all.map((one) => one.id));
  const fields = marks.map((id) => id.replace(/^field-(.+)-wrong$/, '$1'));
  const inOrder = ['origin', 'destination', 'start', 'end', 'travellers', 'notes', 'title', 'steps'];
  return fields.sort((a, b) => inOrder.indexOf(a) - inOrder.indexOf(b));
}

/** What is wrong with a field. */
function wrong(page: Page, field: string): Locator {
  return page.locator('.field', { has: page.locator(`[name=${field}]`) }).locator('.field-error');
}

/** Types what a date field of this browser would not take: others have none, or a tool sends it. */
async function type(field: Locator, text: string): Promise<void> {
  await field.evaluate((input: HTMLInputElement) => (input.type = 'text'));
  await field.fill(text);
}

/** Puts a long text into a field at once. */
async function paste(field: Locator, text: string): Promise<void> {
  await field.evaluate((area: HTMLTextAreaElement, text) => (area.value = text), text);
}

/** A page without JavaScript shows what is new when it is loaded again. */
async function reloadUntil(page: Page, shown: Locator): Promise<void> {
  await expect(async () => {
    await page.reload();
    await expect(shown).toBeVisible({ timeout: 100 });
  }).toPass({ timeout: 20_000, intervals: [200] });
}
