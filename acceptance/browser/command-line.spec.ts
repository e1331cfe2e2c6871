import { call } from '../product';
import { product, useConsoles } from './console';

const { openConsole } = useConsoles();

const post = (path: string, body: object) =>
  call('POST', `${product.consoleUrl}/api/console/machines${path}`, { body });

async function begin(machine: string): Promise<{ device_code: string; user_code: string }> {
  return (await post('', { machine })).body as { device_code: string; user_code: string };
}

it('shows which machine asks and what it could do, and signs it in once this is confirmed', async () => {
  const { device_code, user_code } = await begin('laptop <img src=x onerror=alert(1)>');
  const page = await openConsole('author');
  await page.goto('/command-line');
  await page.getByLabel('Code').fill(user_code.toLowerCase());
  await page.getByRole('button', { name: 'Show who asks' }).click();
  const asker = page.getByRole('region', { name: 'Who asks' });
  await asker.getByText('laptop <img src=x onerror=alert(1)>').waitFor();
  await asker.getByText('reactor:update').waitFor();
  expect((await post('/session', { device_code })).status).toBe(202);
  await asker.getByRole('button', { name: 'Sign it in' }).click();
  await page.getByText('Signed in.').waitFor();
  const taken = await post('/session', { device_code });
  expect([taken.status, taken.body.role]).toEqual([201, 'author']);
});

it('refuses a machine, and finds none by a wrong code', async () => {
  const { device_code, user_code } = await begin('stranger');
  const page = await openConsole('author');
  await page.goto('/command-line');
  await page.getByLabel('Code').fill('BCDF-GHJK');
  await page.getByRole('button', { name: 'Show who asks' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Code').fill(user_code);
  await page.getByRole('button', { name: 'Show who asks' }).click();
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('Refused.').waitFor();
  expect((await post('/session', { device_code })).status).toBe(403);
});
