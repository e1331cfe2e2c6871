import { startDestination } from './destination';
import type { Destination } from './destination';

describe('a destination', () => {
  let destination: Destination;

  afterEach(() => destination.close());

  it('records requests and answers 200', async () => {
    destination = await startDestination();
    const response = await fetch(`${destination.url}/a?b=1`, { method: 'POST', body: '{"n":1}' });
    expect(response.status).toBe(200);
    expect(destination.requests).toHaveLength(1);
    expect(destination.requests[0]).toMatchObject({ method: 'POST', url: '/a?b=1' });
    expect(destination.requests[0]?.json()).toEqual({ n: 1 });
  });

  it('answers as it is told', async () => {
    destination = await startDestination((request, response) => {
      response.writeHead(418).end(request.url);
    });
    const response = await fetch(`${destination.url}/tea`);
    expect([response.status, await response.text()]).toEqual([418, '/tea']);
  });

  it('breaks the connection when its handler fails', async () => {
    destination = await startDestination(() => Promise.reject(new Error('gone')));
    await expect(fetch(destination.url)).rejects.toThrow('fetch failed');
  });
});
