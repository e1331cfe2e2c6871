import { freePort } from './free-port';

it('a port is given once, even before anybody listens on it', async () => {
  const ports: number[] = [];
  for (let n = 0; n < 100; n += 1) ports.push(await freePort());
  expect(new Set(ports).size).toBe(ports.length);
});
