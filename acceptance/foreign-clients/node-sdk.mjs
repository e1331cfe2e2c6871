// The same of @basis-theory/node-sdk, in either of its generations: node node-sdk.mjs PACKAGE_FOLDER
import { createRequire } from 'node:module';
import { outcomes } from './outcomes.mjs';

const { BasisTheoryClient } = createRequire(`${process.argv[2]}/`)('@basis-theory/node-sdk');
const { BASE_URL: environment, ADMIN_KEY, PRIVATE_KEY, DESTINATION } = process.env;
const admin = new BasisTheoryClient({ apiKey: ADMIN_KEY, environment });
const vault = new BasisTheoryClient({ apiKey: PRIVATE_KEY, environment });
const { call, done } = outcomes();
const listed = async (list) => {
  const page = await list;
  return page.data ?? page;
};

const token = await call('tokens.create', () =>
  vault.tokens.create({ type: 'token', data: 'Ada' }),
);
await call('tokens.get', () => vault.tokens.get(token.id));
await call('tokens.list', () => listed(vault.tokens.list?.({ size: 1 }) ?? missing()));
await call('tokens.search', () =>
  listed(vault.tokens.search?.({ query: 'type:token' }) ?? missing()),
);
await call('tokens.listV2', () => listed(vault.tokens.listV2({ size: 1 })));
await call('tokens.searchV2', () => listed(vault.tokens.searchV2({ query: 'type:token' })));
await call('tokens.update', () => vault.tokens.update(token.id, { metadata: { of: 'sdk' } }));
const tokenized = await call('tokens.tokenize', () => vault.tokens.tokenize({ name: 'Ada' }));
await call('tokens.detokenize', () =>
  vault.tokens.detokenize({ name: `{{ ${tokenized?.name} }}` }),
);

const made = { name: 'sdk', type: 'private', permissions: ['token:use'] };
const { id = '' } = await call('applications.create', () => admin.applications.create(made));
await call('applications.list', () => listed(admin.applications.list()));
await call('applications.get', () => admin.applications.get(id));
await call('applications.getByKey', () => vault.applications.getByKey());
await call('applications.update', () => admin.applications.update(id, { ...made, name: 'b' }));
const key = await call('applicationKeys.create', () => admin.applicationKeys.create(id));
await call('applicationKeys.list', () => admin.applicationKeys.list(id));
await call('applicationKeys.get', () => admin.applicationKeys.get(id, key?.id));
await call('applicationKeys.delete', () => admin.applicationKeys.delete(id, key?.id));

const code = 'module.exports = async ({ args }) => ({ raw: { n: args.n } })';
// These releases have no formulas: one is made beside them.
const post = async (path, body) => {
  const type = { 'Content-Type': 'application/json', 'BT-API-KEY': ADMIN_KEY };
  const answer = await fetch(environment + path, {
    method: 'POST',
    headers: type,
    body: JSON.stringify(body),
  });
  return answer.json();
};
const formula = await post('/reactor-formulas', { name: 'sdk', code });
const reactor = await post('/reactors', {
  name: 'sdk',
  configuration: {},
  formula: { id: formula.id },
});
await call('reactors.create', () =>
  admin.reactors.create({ name: 'sdk', code, configuration: {} }),
);
await call('reactors.list', () => listed(admin.reactors.list()));
await call('reactors.get', () => admin.reactors.get(reactor.id));
await call('reactors.update', () =>
  admin.reactors.update(reactor.id, { name: 'b', code, configuration: {} }),
);
await call('reactors.patch', () => admin.reactors.patch(reactor.id, { name: 'c' }));
await call('reactors.react', () => vault.reactors.react(reactor.id, { args: { n: 1 } }));
const run = await call('reactors.reactAsync', () =>
  vault.reactors.reactAsync(reactor.id, { args: { n: 1 } }),
);
await call('reactors.results.get', () =>
  vault.reactors.results.get(reactor.id, run?.asyncReactorRequestId),
);

const proxied = { name: 'sdk', destinationUrl: DESTINATION, requireAuth: true };
const proxy = await call('proxies.create', () => admin.proxies.create(proxied));
await call('proxies.list', () => listed(admin.proxies.list()));
await call('proxies.get', () => admin.proxies.get(proxy?.id));
await call('proxies.update', () => admin.proxies.update(proxy?.id, proxied));
await call('proxies.patch', () => admin.proxies.patch(proxy?.id, { name: 'b' }));
await call('permissions.list', () => admin.permissions.list());
await call('logs.list', () => listed(admin.logs.list({ size: 1 })));
await call('logs.getEntityTypes', () => admin.logs.getEntityTypes());
await call('tenants.self.get', () => admin.tenants.self.get());
await call('tenants.self.update', () => admin.tenants.self.update({ name: 'sdk' }));
await call('sessions.create', () => vault.sessions.create());
await call('webhooks.list', () => admin.webhooks.list());
if (process.env.LEAVE) await leaveResources();
else await deleteResources();
done();

/** Makes one more of each, with all that it may have. */
async function leaveResources() {
  const rule = { description: 'cards', priority: 1, container: '/pci/', transform: 'mask' };
  const rules = [{ ...rule, permissions: ['token:use'] }];
  const limited = { name: 'sdk rules', type: 'private', rules };
  await call('applications.create with rules', () => admin.applications.create(limited));
  const acting = { application: { id }, configuration: { KEY: 'secret' } };
  const transform = { code: 'module.exports = async ({ args }) => args' };
  const both = { requestTransform: transform, responseTransform: transform };
  await call('proxies.create in full', () =>
    admin.proxies.create({ ...proxied, ...both, ...acting, requireAuth: false }),
  );
}

async function deleteResources() {
  await call('proxies.delete', () => admin.proxies.delete(proxy?.id));
  await call('reactors.delete', () => admin.reactors.delete(reactor.id));
  await call('applications.delete', () => admin.applications.delete(id));
  await call('tokens.delete', () => vault.tokens.delete(token.id));
}

function missing() {
  throw new Error('this release has no such call');
}
