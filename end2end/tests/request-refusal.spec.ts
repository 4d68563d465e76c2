// A signed-in traveller opens a page of somebody else's that sends forms to Holdfast: nothing comes of it.

import { createServer, request, type Server } from 'node:http';
import { expect, test } from '../world.js';
import { badge, live, planTrip } from '../pages.js';

test('nothing is changed from another site, nor from a sibling', async ({ page, context, world, complaints }) => {
  complaints.allow(/the server responded with a status of (403|404|405)/);
  await world.outside.behave('skylark-flights', { behaviour: 'asks', delay_ms: 100 });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { steps: ['flight'] });
  await expect(page.locator('.question')).toBeVisible();
  const answer = String(await page.locator('.question form').getAttribute('action'));
  const foreign = await serve(
    [`${trip}/cancel`, answer, '/trips/new', '/logout', '/login']
      .map((path, place) => form(world.app.url + path, `POST`, `post-${place}`))
      .concat(form(`${world.app.url}/read/trip`, 'GET', 'get'), form(`${world.app.url}${trip}/cancel`, 'GET', 'link'))
      .join(''),
  );
  try {
    const evil = await context.newPage();
    // The same host on another port is the same site to a browser: it sends its cookies along.
    for (const host of ['127.0.0.1', 'localhost']) {
      for (let place = 0; place < 5; place += 1) {
        await evil.goto(`http://${host}:${foreign.port}/`);
        const [sent] = await Promise.all([
          evil.waitForResponse((response) => response.url().startsWith(world.app.url)),
          evil.locator(`#post-${place}`).click(),
        ]);
        expect(sent.status(), `${host}, form ${place}`).toBe(403);
        await expect(evil.getByRole('heading')).toHaveText('That came from another site');
      }
      await evil.goto(`http://${host}:${foreign.port}/`);
      const [read] = await Promise.all([
        evil.waitForResponse((response) => response.url().startsWith(world.app.url)),
        evil.locator('#get').click(),
      ]);
      expect(read.status(), `${host}, a server function by GET`).toBe(403);
      await evil.goto(`http://${host}:${foreign.port}/`);
      await evil.locator('#link').click();
      await evil.waitForURL(/\/cancel|\/login/);
    }
    await evil.close();
  } finally {
    foreign.server.close();
  }
  await page.reload();
  await live(page);
  await expect(badge(page), 'still asked, not cancelled, still signed in').toHaveText('Needs your answer');
  await page.goto('/trips');
  await expect(page.locator('.trip-card')).toHaveCount(1);
});

test('a request that does not say where it comes from is refused, and a program’s cookie is worth nothing', async ({
  page,
  context,
  world,
}) => {
  await world.outside.behave('skylark-flights', { behaviour: 'goes_quiet' });
  await world.signIn(page, 'traveller');
  const trip = await planTrip(page, { steps: ['flight'] });
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const post = (headers: Record<string, string>) => status(`${world.app.url}${trip}/cancel`, { cookie, ...headers });
  expect(await post({}), 'no word of where from').toBe(403);
  expect(await post({ 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await post({ 'sec-fetch-site': 'same-site', origin: world.app.url })).toBe(403);
  expect(await post({ origin: 'null' })).toBe(403);
  expect(await status(`${world.app.url}/api/v1${trip}/cancel`, { cookie, origin: world.app.url })).toBe(401);
  await live(page);
  await expect(badge(page)).toHaveText('In progress');
  expect(await post({ 'sec-fetch-site': 'same-origin' }), 'our own form').toBe(303);
  await expect(badge(page)).not.toHaveText('In progress');
});

function form(action: string, method: string, name: string): string {
  const fields = '<input name="confirm" value="yes"><input name="choice" value="together">';
  return `<form action="${action}" method="${method}">${fields}<button id="${name}">${name}</button></form>`;
}

/** A site of somebody else's. */
async function serve(body: string): Promise<{ server: Server; port: number }> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!DOCTYPE html><title>Foreign</title><link rel="icon" href="data:,">${body}`);
  });
  await new Promise<void>((listening) => server.listen(0, () => listening()));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}

/** The status that a bare POST gets, with these headers and no others of a browser's. */
function status(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.setHeader('content-type', 'application/x-www-form-urlencoded');
    sent.on('error', reject);
    sent.end('confirm=yes');
  });
}
