// Run in a folder that has the packed client alone: calls what it has, and prints what came of it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { errors, Glovebox } from '@glovebox/client';
import { verifyWebhook } from '@glovebox/client/webhooks';

const { ADMIN_KEY: key } = process.env;
const admin = new Glovebox({ key });
const glovebox = new Glovebox();

const receiver = createServer((req, res) => {
  const parts = [];
  req.on('data', (part) => parts.push(part));
  req.on('end', () => {
    const body = Buffer.concat(parts).toString();
    receiver.emit('webhook', body, req.headers);
    res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ got: body }));
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const here = `http://127.0.0.1:${receiver.address().port}`;

const code =
  'module.exports = ({ args }) => { if (args.no) throw 1; return { raw: { n: args.n } } }';
const formula = await admin.post('/reactor-formulas', { body: { name: 'packed', code } });
const reactor = await admin.post('/reactors', {
  body: { name: 'packed', configuration: {}, formula: { id: formula.id } },
});
const made = [];
for (const data of ['one', 'two', 'three']) {
  made.push(
    await glovebox.post('/tokens', { body: { type: 'token', data, metadata: { of: reactor.id } } }),
  );
}
const query = { size: 2, 'metadata.of': reactor.id };
const listed = [];
for await (const { id } of glovebox.each('/tokens', { params: { query } })) listed.push(id);

const expression = `{{ ${made[0].id} }}`;
const webhook = once(receiver, 'webhook');
const run = await glovebox.reactAsync(reactor.id, { args: { n: 2 }, callback_url: here });
const { secret } = await admin.get('/tenants/self/webhook-secret');
const report = verifyWebhook(...(await webhook), secret);

const proxy = await admin.post('/proxies', { body: { name: 'packed', destination_url: here } });
const proxied = await glovebox.proxy('/x', {
  ...{ proxyKey: proxy.key, method: 'POST', body: JSON.stringify({ to: expression }) },
  headers: { 'content-type': 'application/json' },
});
const { response } = await admin.api.GET('/proxies/{id}', { params: { path: { id: proxy.id } } });
const refused = async (call) => {
  try {
    return await call;
  } catch (error) {
    return Object.keys(errors).filter((name) => error instanceof errors[name]);
  }
};
const params = { path: { id: proxy.id }, header: { 'If-Match': '"other"' } };
const told = {
  listed:
    listed.toSorted().join() ===
    made
      .map(({ id }) => id)
      .sort()
      .join(),
  result: await glovebox.react(reactor.id, { args: { n: expression } }),
  later: await run.result(),
  report: { ...report, runId: report.runId === run.id },
  proxied: [proxied.status, await proxied.json()],
  hasTag: response.headers.has('etag'),
  patched: await admin.patch('/proxies/{id}', {
    params: { path: params.path },
    body: { name: 'p' },
  }),
  conflict: await refused(admin.delete('/proxies/{id}', { params })),
  mistyped: await refused(
    glovebox.post('/tokens', { body: { type: 'token', data: 1, metdata: {} } }),
  ),
  thrown: await refused(glovebox.react(reactor.id, { args: { no: true } })),
  unreachable: await refused(
    glovebox.proxy('', { proxyKey: 'unknown', method: 'POST', retries: 0 }),
  ),
};
receiver.close();
receiver.closeAllConnections();
console.log(JSON.stringify(told));
