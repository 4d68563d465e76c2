// The end of a session, and what it outlives.

import { expect, test } from '../world.js';
import { freshness, live, planTrip } from '../pages.js';

test('signing out ends the session, here and on every open page', async ({ page, context, world, complaints }) => {
  complaints.allow(/the server responded with a status of 401/);
  await world.outside.behave('skylark-flights', { behaviour: 'goes_quiet' });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { steps: ['flight'] });
  await live(page);
  const before = await context.cookies();
  expect(before).toMatchObject([{ httpOnly: true, sameSite: 'Lax' }]);
  const other = await context.newPage();
  await other.goto('/trips');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await expect(other).toHaveURL(/\/login$/);
  await expect(other.locator('.flash')).toHaveText('You are signed out.');
  await expect(page.locator('.link-state'), 'the open page knows').toHaveClass(/is-stale/);

  await other.goto(trip);
  await expect(other).toHaveURL(`/login?next=${trip}`);
  await context.clearCookies();
  await context.addCookies(before);
  await other.goto('/trips');
  await expect(other, 'the old cookie opens nothing').toHaveURL(/\/login$/);
});

test('a session, and the page that is open in it, outlive the app’s stop and its kill', async ({
  page,
  context,
  world,
  complaints,
}) => {
  complaints.allow(/Failed to load resource: net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)/);
  await world.outside.behave('skylark-flights', { behaviour: 'goes_quiet' });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { steps: ['flight'] });
  await live(page);
  const asked = Date.now();
  await world.app.stop();
  expect(await world.app.ended(), 'an open page keeps nothing from ending').toBe('exit status 0');
  expect(Date.now() - asked).toBeLessThan(5_000);
  await expect(freshness(page)).toHaveText(/^Reconnecting since/);
  await world.app.start();
  await live(page);

  await world.app.kill();
  await expect(freshness(page)).toHaveText(/^Reconnecting since/);
  await world.app.start();
  await live(page);
  const later = await context.newPage();
  await later.goto('/trips');
  await expect(later.locator('.trip-card a')).toHaveAttribute('href', trip);
});
