import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { json } from 'node:stream/consumers';
import { calls, tell } from './calls.mjs';

for (const { url, headers, body } of calls) {
  const { request } = url.startsWith('https:') ? https : http;
  const sent = request(url, { method: 'POST', headers });
  // Written in two parts: in chunks.
  sent.write(body.slice(0, 5));
  sent.end(body.slice(5));
  const [answer] = await once(sent, 'response');
  tell(answer.statusCode, answer.headers['x-charged-with'], await json(answer));
}
