// The worked example, as a traveller lives it: a trip through three agents survives a SIGKILL before
// the hotel's task id is recorded, and an abort in the middle of its undo, while its page stays open.

import { ACCOUNTS, expect, test, type World } from '../world.js';
import { badge, freshness, live, picture, planTrip, question, step } from '../pages.js';
import type { Page } from '@playwright/test';

const PICTURES = 'test-results/story';
const DECISION = 'Should the trip go on without it, or be cancelled and undone?';

test.use({
  appEnv: {
    // The hotel withholds its answer: the kill has as long as this before the send gives up.
    HOLDFAST_WAIT_SEND_LIMIT: '10',
    HOLDFAST_WAIT_HEARTBEAT: '11',
  },
});

test('a trip survives a kill in the middle, and another one in the middle of its undo', async ({
  page,
  world,
  complaints,
}) => {
  // While the app is dead, the page's stream cannot be had.
  complaints.allow(/Failed to load resource: net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE).*\/live/);
  await world.outside.behave('skylark-flights', { behaviour: 'works', delay_ms: 9_000, times: 1 });
  await world.outside.behave('harbour-hotels', { behaviour: 'asks', delay_ms: 300, hold_answer: true, times: 1 });
  await world.app.stop();
  await world.app.start({ HOLDFAST_HOLD_AT: 'send.before_write:car' });

  await world.signIn(page, 'traveller');
  const trip = await planTrip(page);
  await threeUnderWay(page, world);
  expect(await requests(world, trip), 'what is recorded at the kill').toEqual({
    flight: 'landed, task known',
    hotel: 'intent',
    car: 'intent',
  });
  await world.app.kill();

  const document = await mark(page);
  await expect(freshness(page)).toHaveText(/^Reconnecting since .+ What you see may be out of date\.$/);
  const booked = async () => (await world.outside.ledger('northwind-air')).bookings.length;
  await expect.poll(booked, { timeout: 30_000 }).toBe(1);
  await world.app.start({ HOLDFAST_CRASH_AT: 'undo.after_answer:hotel' });
  await live(page);
  await theQuestionIsAnsweredOnThePage(page, world, document);
  await theCarIsSentAndGivenUp(page, world);
  // The hotel's system does as told and never answers: there is time to look at the page.
  await world.outside.system('harbour-hotels', { cancel: 'hang', times: 1 });
  await theTripIsCancelled(page, trip);
  expect(await world.app.ended()).toBe('killed by SIGABRT');

  const undoing = await mark(page);
  await expect(freshness(page)).toHaveText(/^Reconnecting since/);
  await world.app.start();
  await expect(badge(page)).toHaveText('Cancelled');
  await live(page);
  expect(await marked(page), 'the same page, not a new one').toBe(undoing);
  await theEndIsTold(page, world);
  await picture(page, PICTURES, '5-cancelled');
});

/** How far the request of each step has come, as the journal has it. */
async function requests(world: World, trip: string): Promise<Record<string, string>> {
  type Attempt = { send_state: string; task_id: string | null };
  const view = (await (await world.api(trip)).json()) as { steps: { name: string; delegations: Attempt[] }[] };
  const told = ({ send_state, task_id }: Attempt) => send_state + (task_id === null ? '' : ', task known');
  return Object.fromEntries(view.steps.map((one) => [one.name, one.delegations.map(told).join('; ')]));
}

/** The flight is at work, the hotel has its request, the car's never left. */
async function threeUnderWay(page: Page, world: World): Promise<void> {
  await live(page);
  await expect(badge(page)).toHaveText('In progress');
  await expect(step(page, 'Flight')).toContainText('Skylark Flights says WORKING.');
  await expect(page.locator('.step-state')).toHaveText(['An agent works on it', 'Being handed over', 'Being handed over']);
  await expect.poll(async () => (await world.outside.sends('harbour-hotels')).length).toBe(1);
  expect(await world.outside.calls('citycar'), 'nothing has left for the car').toEqual([]);
  await picture(page, PICTURES, '1-three-under-way');
}

/** The same page has the whole view again, and the question on it. */
async function theQuestionIsAnsweredOnThePage(page: Page, world: World, document: string): Promise<void> {
  const asked = question(page, 'Two rooms or one?');
  await expect(asked).toContainText('Harbour Hotels Concierge asks');
  await expect(step(page, 'Flight')).toContainText('Verified in the booking system’s records');
  expect(await marked(page), 'the same page, not a new one').toBe(document);
  await picture(page, PICTURES, '2-question-after-restart');
  await asked.getByRole('button', { name: 'Two rooms' }).click();
  await expect(page.locator('.flash')).toHaveText('Your answer is recorded.');

  await expect(step(page, 'Hotel')).toContainText('Verified in the booking system’s records');
  const { bookings } = await world.outside.ledger('harbour-hotels');
  expect(bookings).toMatchObject([{ status: 'CONFIRMED', details: { rooms: 2 } }]);
  await expect(step(page, 'Hotel')).toContainText(String(bookings[0]?.id));
  const calls = await world.outside.calls('harbour-hotels');
  const [request, reply, ...more] = calls.filter((call) => call.method === 'SendMessage');
  expect(more, 'the request once, the reply once').toEqual([]);
  expect(calls[calls.indexOf(request!) + 1]).toMatchObject({ method: 'ListTasks', context_id: request!.context_id });
  expect(reply).toMatchObject({ context_id: request!.context_id, task_id: expect.any(String) });
}

/** Sent once, after looking; declined, handed on, failed; the budget is used up. */
async function theCarIsSentAndGivenUp(page: Page, world: World): Promise<void> {
  await expect(question(page, DECISION)).toContainText('Holdfast asks you to decide');
  const calls = await world.outside.calls('citycar');
  const sent = calls.findIndex((call) => call.method === 'SendMessage');
  const looks = calls.slice(0, sent).filter((call) => call.method === 'ListTasks');
  expect(looks.length, 'looked for before it was sent').toBeGreaterThanOrEqual(2);
  expect(looks.every((look) => look.context_id === calls[sent]?.context_id)).toBe(true);
  const [second, ...more] = await world.outside.sends('metrocar');
  expect([await world.outside.sends('citycar'), more]).toMatchObject([{ length: 1 }, { length: 0 }]);
  expect(second?.metadata).toMatchObject({ previous_failure: expect.stringContaining('No cars left on those dates.') });

  const attempts = step(page, 'Rental car').locator('.attempts li');
  await expect(attempts).toHaveText([
    /^Attempt 1 of 2: CityCar declined\. .*No cars left on those dates\./,
    /^Attempt 2 of 2: MetroCar Rentals failed\. .*Our fleet system is down/,
  ]);
  await expect(step(page, 'Hotel')).toContainText('Verified in the booking system’s records');
  await picture(page, PICTURES, '3-decision');
}

/** The cancel page says what will be undone, in order, and what comes back; then it is done. */
async function theTripIsCancelled(page: Page, trip: string): Promise<void> {
  await page.getByRole('link', { name: 'Cancel this trip…' }).click();
  await expect(page).toHaveURL(`${trip}/cancel`);
  await expect(page.locator('.rung h3')).toHaveText(['Hotel', 'Flight']);
  await expect(page.locator('.rung', { hasText: 'Flight' })).toContainText('25.00');
  await expect(page.getByText(/^In all, .+ comes back\.$/)).toBeVisible();
  await picture(page, PICTURES, '4a-cancel-preview');
  await page.getByRole('button', { name: 'Cancel this trip' }).click();
  await page.waitForURL(trip);
  const rungs = page.locator('.ladder .rung');
  await expect(rungs.locator('.badge')).toHaveText(['Cancellation requested', 'Waits for its turn']);
  await expect(badge(page)).toHaveText('Undoing bookings');
  await picture(page, PICTURES, '4-undoing');
}

/** Who did what, when and why; the money; and nothing is left anywhere. */
async function theEndIsTold(page: Page, world: World): Promise<void> {
  await expect(page.locator('.ladder .rung .badge')).toHaveText(['Verified gone', 'Verified gone']);
  await expect(page.locator('.ladder .rung h3')).toHaveText(['Hotel', 'Flight']);
  for (const [who, what, why] of [
    [ACCOUNTS.traveller.email, 'Answered: Two rooms', ''],
    ['CityCar', 'REJECTED: No cars left on those dates.', ''],
    ['Holdfast', 'Attempt 2 of 2 is handed to MetroCar Rentals', 'rejected'],
    ['Holdfast', 'Rental car: could not be arranged', 'All 2 attempts are used up'],
    [ACCOUNTS.traveller.email, 'Asked for the trip to be cancelled and undone', ''],
    ['Holdfast', 'The trip is cancelled', 'verified gone'],
  ] as const) {
    const event = page.locator('.event', { hasText: what });
    await expect(event).toHaveCount(1);
    await expect(event.locator('.event-head')).toContainText(who);
    await expect(event.locator('.event-head time')).toHaveAttribute('datetime', /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
    await expect(event).toContainText(why);
  }
  const money = page.locator('.money');
  await expect(money.getByRole('row', { name: 'Booked' })).toContainText('0.00\u{a0}EUR');
  await expect(money.getByRole('row', { name: 'Refunded' })).toContainText('EUR');
  await expect(money.getByRole('row', { name: 'Fees' })).toContainText('25.00\u{a0}EUR');
  await expect(page.getByRole('link', { name: 'Cancel this trip…' })).toHaveCount(0);

  expect(await world.outside.standing()).toEqual([]);
  for (const name of ['harbour-hotels', 'northwind-air']) {
    const { operations } = await world.outside.ledger(name);
    const cancels = operations.filter((one) => one.operation === 'cancel');
    expect(new Set(cancels.map((cancel) => cancel.idempotency_key)).size, 'one key').toBe(1);
    expect(cancels.filter((cancel) => cancel.note === 'cancelled')).toHaveLength(1);
  }
  // Leaves with another status than 0 where it finds a violation.
  await world.app.command('check');
}

/** Marks the document that a page shows, so that a reload would be noticed. */
async function mark(page: Page): Promise<string> {
  return page.evaluate(() => (document.documentElement.dataset['mark'] = crypto.randomUUID()));
}

async function marked(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.documentElement.dataset['mark']);
}
