// Calls everything that @basis-theory/basis-theory-js has for what Glovebox has, and prints what came of each.
// node basis-theory-js.mjs PACKAGE_FOLDER
import { createRequire } from 'node:module';
import { outcomes } from './outcomes.mjs';

const { BasisTheory } = createRequire(`${process.argv[2]}/`)('@basis-theory/basis-theory-js');
const { BASE_URL: apiBaseUrl, ADMIN_KEY, PRIVATE_KEY, DESTINATION } = process.env;
const admin = await new BasisTheory().init(ADMIN_KEY, { apiBaseUrl });
const vault = await new BasisTheory().init(PRIVATE_KEY, { apiBaseUrl });
const { call, done } = outcomes();

const card = { number: '4242424242424242', expirationMonth: 12, expirationYear: 2030, cvc: '123' };
const token = await call('tokens.create', () =>
  vault.tokens.create({ type: 'token', data: 'Ada', metadata: { of: 'sdk' } }),
);
await call('tokens.create of a card', () => vault.tokens.create({ type: 'card', data: card }));
await call('tokens.retrieve', () => vault.tokens.retrieve(token?.id));
await call('tokens.list', () => vault.tokens.list({ size: 1, metadata: { of: 'sdk' } }));
await call('tokens.search', () => vault.tokens.search({ query: 'type:token' }));
await call('tokens.update', () => vault.tokens.update(token?.id, { metadata: { of: 'us' } }));
await call('tokenize', () => vault.tokenize({ name: 'Ada' }));

const made = { name: 'sdk', type: 'private', permissions: ['token:use'] };
const application = await call('applications.create', () => admin.applications.create(made));
const id = application?.id;
await call('applications.list', () => admin.applications.list());
await call('applications.retrieve', () => admin.applications.retrieve(id));
await call('applications.retrieveByKey', () => vault.applications.retrieveByKey());
await call('applications.update', () => admin.applications.update(id, { ...made, name: 'b' }));
await call('applications.regenerateKey', () => admin.applications.regenerateKey(id));
if (admin.applicationKeys) {
  const key = await call('applicationKeys.create', () => admin.applicationKeys.create(id));
  await call('applicationKeys.get', () => admin.applicationKeys.get(id));
  await call('applicationKeys.getById', () => admin.applicationKeys.getById(id, key?.id));
  await call('applicationKeys.delete', () => admin.applicationKeys.delete(id, key?.id));
}

const code = 'module.exports = async ({ args }) => ({ raw: { n: args.n } })';
const formula = { type: 'private', name: 'sdk', code, configuration: [], requestParameters: [] };
const stored = await call('reactorFormulas.create', () => admin.reactorFormulas.create(formula));
await call('reactorFormulas.list', () => admin.reactorFormulas.list());
await call('reactorFormulas.retrieve', () => admin.reactorFormulas.retrieve(stored?.id));
await call('reactorFormulas.update', () => admin.reactorFormulas.update(stored?.id, formula));
const wanted = { name: 'sdk', configuration: {}, formula: { id: stored?.id } };
const reactor = await call('reactors.create', () => admin.reactors.create(wanted));
await call('reactors.list', () => admin.reactors.list());
await call('reactors.retrieve', () => admin.reactors.retrieve(reactor?.id));
await call('reactors.update', () =>
  admin.reactors.update(reactor?.id, { name: 'b', configuration: {} }),
);
await call('reactors.patch', () => admin.reactors.patch(reactor?.id, { name: 'c' }));
await call('reactors.react', () =>
  vault.reactors.react(reactor?.id, { args: { n: `{{ ${token?.id} }}` } }),
);

const proxied = { name: 'sdk', destinationUrl: DESTINATION, requireAuth: true };
const proxy = await call('proxies.create', () => admin.proxies.create(proxied));
await call('proxies.list', () => admin.proxies.list());
await call('proxies.retrieve', () => admin.proxies.retrieve(proxy?.id));
await call('proxies.update', () => admin.proxies.update(proxy?.id, proxied));
await call('proxies.patch', () => admin.proxies.patch(proxy?.id, { name: 'b' }));
const headers = { 'BT-PROXY-KEY': proxy?.key };
for (const method of ['get', 'delete']) {
  await call(`proxy.${method}`, () => vault.proxy[method]({ headers, path: 'x' }));
}
for (const method of ['post', 'put', 'patch']) {
  const body = { to: `{{ ${token?.id} }}` };
  await call(`proxy.${method}`, () => vault.proxy[method]({ headers, path: 'x', body }));
}

await call('permissions.list', () => admin.permissions.list());
await call('logs.list', () => admin.logs.list({ size: 1 }));
await call('tenants.retrieve', () => admin.tenants.retrieve());
await call('tenants.update', () => admin.tenants.update({ name: 'sdk', settings: {} }));
await call('tenants.retrieveUsageReport', () => admin.tenants.retrieveUsageReport());
await call('sessions.create', () => vault.sessions.create());
if (process.env.LEAVE) await leaveResources();
else await deleteResources();
done();

/** Makes one more of each, with all that it may have. */
async function leaveResources() {
  const rule = { description: 'cards', priority: 1, container: '/pci/', transform: 'mask' };
  const rules = [{ ...rule, permissions: ['token:use'] }];
  const limited = { name: 'sdk rules', type: 'private', rules };
  await call('applications.create with rules', () => admin.applications.create(limited));
  const parameters = [{ name: 'n', description: 'a number', type: 'number', optional: true }];
  const declared = [{ name: 'KEY', description: 'a key', type: 'string' }];
  const full = { ...formula, configuration: declared, requestParameters: parameters };
  const keyed = await call('reactorFormulas.create in full', () =>
    admin.reactorFormulas.create(full),
  );
  const acting = { application: { id }, configuration: { KEY: 'secret' } };
  await call('reactors.create in full', () =>
    admin.reactors.create({ name: 'sdk keyed', formula: { id: keyed?.id }, ...acting }),
  );
  const transform = { code: 'module.exports = async ({ args }) => args' };
  const both = { requestTransform: transform, responseTransform: transform };
  await call('proxies.create in full', () =>
    admin.proxies.create({ ...proxied, ...both, ...acting, requireAuth: false }),
  );
}

async function deleteResources() {
  await call('proxies.delete', () => admin.proxies.delete(proxy?.id));
  await call('reactors.delete', () => admin.reactors.delete(reactor?.id));
  await call('reactorFormulas.delete', () => admin.reactorFormulas.delete(stored?.id));
  await call('applications.delete', () => admin.applications.delete(id));
  await call('tokens.delete', () => vault.tokens.delete(token?.id));
}
