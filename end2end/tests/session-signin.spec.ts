import { ACCOUNTS, expect, test } from '../world.js';

test('signing in leads to the trips', async ({ page, world }) => {
  await world.signIn(page, 'traveller');
  await expect(page).toHaveURL(`${world.app.url}/trips`);
});

test('a wrong password is told, and the address kept', async ({ page, complaints }) => {
  complaints.allow(/the server responded with a status of 422/);
  const { email } = ACCOUNTS.traveller;
  await page.goto('/login');
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill('not the password');
  await page.locator('form:has(input[name=password]) button[type=submit]').click();
  await expect(page).toHaveURL(/\/login/);
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(page.locator('input[name=email]')).toHaveValue(email);
});

test('a page that needs a sign-in asks for it and goes on to where one wanted to be', async ({ page, world }) => {
  await page.goto('/trips/new');
  await expect(page).toHaveURL(/\/login/);
  await page.locator('input[name=email]').fill(ACCOUNTS.traveller.email);
  await page.locator('input[name=password]').fill(ACCOUNTS.traveller.password);
  await page.locator('form:has(input[name=password]) button[type=submit]').click();
  await expect(page).toHaveURL(`${world.app.url}/trips/new`);
});
