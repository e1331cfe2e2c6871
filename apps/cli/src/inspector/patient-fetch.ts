import { once } from 'node:events';
import { request as requestInTheClear, type IncomingMessage } from 'node:http';
import { request as requestEncrypted } from 'node:https';
import { buffer } from 'node:stream/consumers';

const aliveEveryMs = 30_000;

/** Waits for an answer for as long as its signal lets it. `fetch` of Node gives up after 5 minutes. */
export const patientFetch: typeof globalThis.fetch = async (input, init) => {
  const asked = new Request(input, init);
  const { url, method, headers, signal } = asked;
  const content = Buffer.from(await asked.arrayBuffer());
  const send = url.startsWith('https:') ? requestEncrypted : requestInTheClear;
  // On a connection of its own, which nobody takes for an idle one.
  const sent = send(url, { method, headers: Object.fromEntries(headers), signal, agent: false });
  sent.setSocketKeepAlive(true, aliveEveryMs);
  sent.end(content);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return asResponse(answer, await buffer(answer));
};

function asResponse(
  { statusCode = 502, headersDistinct }: IncomingMessage,
  body: Buffer,
): Response {
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(body.length === 0 ? null : body, { status: statusCode, headers });
}
