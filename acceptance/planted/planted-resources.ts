import { createPrivateKey } from 'node:crypto';
import { createAuthority } from '@glovebox/testing';
import type { PlantedSecrets } from './planted-secrets';
import { call, create, until, type Product } from '../product';

/** Resources with secrets in every member that may hold one. */
export interface PlantedResources {
  /** The key of an application with all permissions on tokens. */
  readonly key: string;
  readonly proxyId: string;
  readonly proxyKey: string;
  /** A proxy for anonymous callers. */
  readonly openProxyKey: string;
  readonly reactorId: string;
  readonly tokens: Readonly<Record<'text' | 'object' | 'number' | 'card', string>>;
  readonly values: Readonly<Record<'text' | 'inObject' | 'card', string>>;
}

export async function plantEverything(
  product: Product,
  secrets: PlantedSecrets,
  destinationUrl: string,
): Promise<PlantedResources> {
  const key = await plantApplications(product, secrets);
  const proxies = await plantProxies(product, secrets, destinationUrl);
  const reactorId = await plantReactor(product, secrets);
  await plantDeployments(product, secrets, destinationUrl);
  const { body } = await call('GET', `${product.baseUrl}/tenants/self/webhook-secret`, {
    key: product.adminKey,
  });
  secrets.add('webhook secret', String(body.secret));
  return { key, ...proxies, reactorId, ...(await plantTokens(product, secrets, key)) };
}

/** The first one is in force no longer, and is kept so that one can return to it. */
async function plantDeployments(
  product: Product,
  secrets: PlantedSecrets,
  destinationUrl: string,
): Promise<void> {
  for (const name of ['former deployment', 'deployment']) {
    const item = {
      kind: 'proxy',
      slug: 'planted',
      name: 'planted',
      destination_url: destinationUrl,
    };
    const configuration = { api_key: secrets.text(`configuration of a ${name}`) };
    const body = { items: [{ ...item, configuration }], message: name };
    // Another spec may be deploying.
    await until(async () => {
      const url = `${product.baseUrl}/deployments`;
      return (await call('POST', url, { key: product.adminKey, body })).status === 200;
    });
  }
}

async function plantApplications(product: Product, secrets: PlantedSecrets): Promise<string> {
  const all = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'];
  const application = await create(product, '/applications', {
    name: 'planted',
    type: 'private',
    permissions: ['token:use'],
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: all }],
  });
  secrets.add('first key', String(application.key));
  const another = await create(product, `/applications/${application.id}/keys`, {});
  secrets.add('another key', String(another.key));
  const answer = await call(
    'POST',
    `${product.baseUrl}/applications/${application.id}/regenerate`,
    { key: product.adminKey },
  );
  const key = String(answer.body.key);
  secrets.add('regenerated key', key);
  return key;
}

async function plantProxies(product: Product, secrets: PlantedSecrets, destinationUrl: string) {
  const { cert, key } = createAuthority().issue('DNS:client');
  const { d: secret = '' } = createPrivateKey(key).export({ format: 'jwk' });
  secrets.add('private key of the client', Buffer.from(secret, 'base64url'));
  secrets.add('private key of the client, as sent', key.split('\n')[1] ?? '');
  const body = {
    name: 'planted',
    destination_url: `${destinationUrl}/proxied`,
    configuration: { api_key: secrets.text('configuration of a proxy') },
    client_certificate: { certificate: cert, private_key: key },
  };
  const proxy = await create(product, '/proxies', body);
  const open = await create(product, '/proxies', { ...body, require_auth: false });
  secrets.add('proxy key', String(proxy.key));
  secrets.add('key of an open proxy', String(open.key));
  const patched = await patch(product, `/proxies/${proxy.id}`, product.adminKey, {
    configuration: { more: secrets.text('patched configuration of a proxy') },
  });
  if (patched !== 204) throw new Error(`the proxy was not changed: ${patched}`);
  return { proxyId: proxy.id, proxyKey: String(proxy.key), openProxyKey: String(open.key) };
}

/** Misuses data as customers should not; named by the misuse. */
const code = `const { CustomHttpResponseError } = require('@svc/reactor-errors');
module.exports = async ({ args, configuration }) => {
  const { doing, ...secrets } = args;
  console.log(args, configuration);
  console.error(JSON.stringify(configuration));
  process.stdout.write(JSON.stringify(args));
  if (doing === 'throw') throw new Error(JSON.stringify(secrets) + configuration.api_key);
  const named = { [args.text]() { throw new TypeError(args.text + configuration.api_key); } };
  if (doing === 'name') named[args.text]();
  if (doing === 'drop') return { [args.plain]: 1, [args.text]: 1, [configuration.api_key]: 1 };
  if (doing === 'respond') throw new CustomHttpResponseError({ status: 400, body: { code: 'no' } });
  if (doing === 'reject') Promise.reject(new Error(JSON.stringify(args)));
  if (doing === 'exit') process.exit(JSON.stringify(args).length % 7);
  if (doing === 'return') return JSON.stringify(args);
  return { raw: { args, key: configuration.api_key }, tokenize: { again: configuration.api_key } };
};`;

async function plantReactor(product: Product, secrets: PlantedSecrets): Promise<string> {
  const formula = await create(product, '/reactor-formulas', {
    type: 'private',
    name: 'planted',
    code,
    configuration: [
      { name: 'api_key', type: 'string' },
      { name: 'pin', type: 'number' },
    ],
  });
  const application = await create(product, '/applications', {
    name: 'planted in a reactor',
    type: 'private',
    permissions: ['token:create'],
  });
  secrets.add('key of the application of a reactor', String(application.key));
  const configuration = {
    api_key: secrets.text('configuration of a reactor'),
    pin: secrets.number('configured number'),
  };
  const reactor = await create(product, '/reactors', {
    name: 'planted',
    formula: { id: formula.id },
    application: { id: application.id },
    configuration,
  });
  const api_key = secrets.text('patched configuration of a reactor');
  const patched = await patch(product, `/reactors/${reactor.id}`, product.adminKey, {
    configuration: { api_key },
  });
  if (patched !== 204) throw new Error(`the reactor was not changed: ${patched}`);
  return reactor.id;
}

async function plantTokens(product: Product, secrets: PlantedSecrets, key: string) {
  const token = async (body: unknown): Promise<string> =>
    (await create(product, '/tokens', body, key)).id;
  const values = {
    text: secrets.text('text'),
    inObject: secrets.text('within an object'),
    card: secrets.card('number of a card'),
  };
  const owner = secrets.text('owner');
  const object = await token({
    data: { [secrets.text('name of a member')]: values.inObject, owner, found: values.inObject },
    mask: {
      owner: `{{ data.owner | last4 }} ${secrets.text('literal of a mask')}`,
      signed: `{{ data.owner | hmac: 'sha256', '${secrets.text('HMAC key of a mask')}' }}`,
    },
    search_indexes: [
      '{{ data.found }}',
      `{{ data.owner | prepend: '${secrets.text('literal of an index')}' }}`,
    ],
    fingerprint_expression: `{{ data.owner | append: '${secrets.text('literal of a fingerprint')}' }}`,
  });
  const tokens = {
    object,
    text: await token({ data: values.text, deduplicate_token: true }),
    number: await token({ data: secrets.number('number') }),
    card: await token({
      type: 'card',
      data: { number: values.card, holder: secrets.text('holder') },
    }),
  };
  await token({
    type: 'bank',
    data: {
      routing_number: secrets.routingNumber('routing number of a bank'),
      account_number: secrets.digits('account of a bank', 16),
    },
  });
  for (const [type, data] of Object.entries(plainTypes(secrets))) await token({ type, data });
  await plantDocument(product, secrets, key);
  const { status } = await call(
    'DELETE',
    `${product.baseUrl}/tokens/${await token({
      data: secrets.text('deleted'),
    })}`,
    { key },
  );
  if (status !== 204) throw new Error(`the token was not deleted: ${status}`);
  return { tokens, values };
}

const plainTypes = (secrets: PlantedSecrets): Record<string, string> => ({
  card_number: secrets.card('card number'),
  us_bank_account_number: secrets.digits('account number', 15),
  us_bank_routing_number: secrets.routingNumber('routing number'),
  social_security_number: secrets.socialSecurityNumber('social security number'),
  employer_id_number: secrets.employerNumber('employer number'),
});

/** Sent twice with one idempotency key; the first answer is stored. */
async function plantDocument(product: Product, secrets: PlantedSecrets, key: string) {
  const options = {
    key,
    headers: { 'SVC-IDEMPOTENCY-KEY': secrets.text('idempotency key') },
    body: {
      name: secrets.text('in a document'),
      card: { type: 'card_number', data: secrets.card('card in a document') },
    },
  };
  for (let n = 0; n < 2; n += 1) {
    const { status, text } = await call('POST', `${product.baseUrl}/tokenize`, options);
    if (status !== 201) throw new Error(`POST /tokenize: ${status} ${text}`);
  }
}

export async function patch(
  product: Product,
  path: string,
  key: string,
  body: unknown,
): Promise<number> {
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  return (await call('PATCH', `${product.baseUrl}${path}`, { key, headers, body })).status;
}
