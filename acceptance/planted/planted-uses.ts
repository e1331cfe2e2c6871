import type { Place } from './planted-places';
import { patch, type PlantedResources } from './planted-resources';
import type { PlantedSecrets } from './planted-secrets';
import { call, type Product } from '../product';
import type { Receiver } from '../receiver';

/** Uses data in every way that exists. Each use must succeed, or it would prove nothing. */
export async function useEverything(
  product: Product,
  secrets: PlantedSecrets,
  planted: PlantedResources,
  receiver: Receiver,
  look: () => void,
): Promise<void> {
  await captureCalls(product, planted);
  await useProxies(product, secrets, planted, receiver);
  await useVault(product, secrets, planted);
  look();
  await useReactor(product, secrets, planted, receiver);
  look();
  await throwInReactor(product, secrets, planted, receiver);
  look();
  await tryUnsaved(product, secrets, planted);
}

/** Messages of the proxy are kept as shapes from now on. */
async function captureCalls(
  { baseUrl, adminKey: key }: Product,
  { proxyId }: PlantedResources,
): Promise<void> {
  const path = `${baseUrl}/proxies/${proxyId}/captures`;
  const { status, text } = await call('POST', path, { key, body: { minutes: 60 } });
  requireStatus(status, 201, text);
}

/** All that is told of captured calls. */
export async function readCaptures(
  { baseUrl, adminKey: key }: Product,
  { proxyId }: PlantedResources,
): Promise<Place[]> {
  const path = `${baseUrl}/proxies/${proxyId}/captures`;
  const list = await call('GET', `${path}?size=100`, { key });
  const places: Place[] = [];
  for (const { id } of list.body.data as { id: string }[]) {
    const { status, text } = await call('GET', `${path}/${id}`, { key });
    requireStatus(status, 200, text);
    places.push([`capture ${id}`, Buffer.from(text)]);
  }
  return places;
}

/** Code that is not saved gets arguments, messages and the stored configuration. */
async function tryUnsaved(
  { baseUrl, adminKey: key }: Product,
  secrets: PlantedSecrets,
  { reactorId }: PlantedResources,
): Promise<void> {
  const code = `module.exports = ({ args, configuration }) => {
    console.log(args.plain, ...Object.values(configuration));
    throw new Error(args.plain + Object.values(configuration).join());
  }`;
  const args = { plain: secrets.text('argument of a dry run') };
  const reactor = { formula: { code, configuration: await declaredBy(baseUrl, key, reactorId) } };
  const body = { reactor_id: reactorId, reactor, args };
  const tried = await call('POST', `${baseUrl}/reactors/dry-runs`, { key, body });
  requireStatus(tried.status, 200, tried.text);
  const transform = {
    code: 'module.exports = ({ args }) => { console.log(args.body); return args }',
  };
  const messages = {
    request: {
      body: secrets.text('request of a dry run'),
      headers: { 'content-type': 'text/plain' },
    },
    answer: {
      body: secrets.text('answer of a dry run'),
      headers: { 'content-type': 'text/plain' },
    },
  };
  const proxy = { request_transform: transform, response_transform: transform };
  const shown = await call('POST', `${baseUrl}/proxies/dry-runs`, {
    key,
    body: { proxy, ...messages },
  });
  requireStatus(shown.status, 200, shown.text);
}

async function declaredBy(baseUrl: string, key: string, reactorId: string): Promise<unknown> {
  const { body } = await call('GET', `${baseUrl}/reactors/${reactorId}`, { key });
  return (body.formula as { configuration: unknown }).configuration;
}

async function useProxies(
  { baseUrl }: Product,
  secrets: PlantedSecrets,
  { key, proxyKey, openProxyKey, tokens, values }: PlantedResources,
  receiver: Receiver,
): Promise<void> {
  const { text, object, card } = tokens;
  const inHeader = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey };
  const signed = `{{${text}|hmac:'sha256','${secrets.text('HMAC key of a call')}'}}`;
  const send = async (type: string, body: string, value: string = values.text): Promise<void> => {
    const headers = { ...inHeader, 'Content-Type': type };
    const answer = await fetch(`${baseUrl}/proxy`, { method: 'POST', headers, body });
    requireStatus(answer.status, 200, `${type} ${await answer.text()}`);
    const seen = receiver.received.at(-1)?.body ?? '';
    if (!seen.includes(value)) throw new Error(`${type}: the value did not arrive`);
  };
  const path = `/proxy/${secrets.text('path')}/{{${text}}}?q={{${text}}}&p=${secrets.text('query')}`;
  const authorization = `Bearer {{ ${text} }} ${secrets.text('header')}`;
  const headers = { ...inHeader, Authorization: authorization, 'X-Signed': signed };
  const answer = await fetch(encodeURI(`${baseUrl}${path}`), { headers });
  requireStatus(answer.status, 200, await answer.text());

  const plain = secrets.text('body of a call');
  const json = { plain, whole: `{{${object}}}`, text: `{{${text}}}`, card: `{{${card}}}`, signed };
  await send('application/json', JSON.stringify(json));
  await send('application/x-www-form-urlencoded', `a=${plain}&b={{${text}}}`);
  await send('text/plain', `${plain} {{ ${card} | json: '$.number' }}`, values.card);
  const long = { filling: 'x'.repeat(1_200_000), text: `{{${text}}}`, inObject: `{{${object}}}` };
  await send('application/json', JSON.stringify(long), values.inObject);
  const anonymous = await call('POST', `${baseUrl}/proxy?svc-proxy-key=${openProxyKey}`, {
    body: { plain: secrets.text('body of an anonymous call') },
  });
  requireStatus(anonymous.status, 200, anonymous.text);
}

async function useVault(
  product: Product,
  secrets: PlantedSecrets,
  { key, tokens, values }: PlantedResources,
): Promise<void> {
  const { baseUrl } = product;
  const ask = async (method: string, path: string, value: string, body?: unknown) => {
    const options = body === undefined ? { key } : { key, body };
    const answer = await call(method, `${baseUrl}${path}`, options);
    requireStatus(answer.status, 200, answer.text);
    if (!answer.text.includes(value)) throw new Error(`${path} gave nothing out`);
  };
  const document = { text: `{{${tokens.text}}}`, number: `{{${tokens.number}|to_string}}` };
  await ask('POST', '/detokenize', values.text, document);
  await ask('GET', `/tokens/${tokens.card}`, values.card);
  await ask('GET', `/tokens?id=${tokens.object}`, values.inObject);
  await ask('POST', '/tokens/search', tokens.object, { query: `data:"${values.inObject}"` });
  const owner = secrets.text('patched owner');
  const changed = await patch(product, `/tokens/${tokens.object}`, key, {
    data: { owner },
    mask: { was: `{{ data.owner }} ${secrets.text('literal of a patched mask')}` },
  });
  requireStatus(changed, 200, 'PATCH /tokens');
}

async function useReactor(
  { baseUrl }: Product,
  secrets: PlantedSecrets,
  { key, reactorId, tokens, values }: PlantedResources,
  receiver: Receiver,
): Promise<void> {
  const react = `${baseUrl}/reactors/${reactorId}/react`;
  const args = (name: string) => ({
    plain: secrets.text(name),
    text: `{{${tokens.text}}}`,
    card: `{{${tokens.card}}}`,
  });
  const sync = await call('POST', react, { key, body: { args: args('argument') } });
  requireStatus(sync.status, 200, sync.text);
  if (!sync.text.includes(values.card)) throw new Error('the reactor gave nothing back');

  // Its outcome is stored, and answers the repetition.
  const once = { 'SVC-IDEMPOTENCY-KEY': secrets.text('idempotency key of a run') };
  const kept = { key, headers: once, body: { args: args('argument of a repeated run') } };
  for (const time of ['first', 'second']) {
    const { status, text } = await call('POST', react, kept);
    requireStatus(status, 200, `${time} ${text}`);
  }

  const callback_url = `${receiver.url}/hook/${secrets.text('path of a callback')}?sig=${secrets.text('query of a callback')}`;
  const accepted = await call('POST', react, {
    key,
    body: { args: args('argument of an async run'), callback_url },
  });
  requireStatus(accepted.status, 202, accepted.text);
  await webhooks(receiver, 1);
  // A webhook that cannot be delivered and waits for its next attempt.
  await call('POST', react, {
    key,
    body: {
      args: args('argument of an undeliverable run'),
      callback_url: `http://127.0.0.1:9/${secrets.text('callback that nobody answers')}`,
    },
  });
}

async function throwInReactor(
  { baseUrl }: Product,
  secrets: PlantedSecrets,
  { key, reactorId, tokens }: PlantedResources,
  receiver: Receiver,
): Promise<void> {
  const before = receiver.received.length;
  for (const doing of ['throw', 'name', 'drop', 'respond', 'reject', 'exit', 'return']) {
    const args = { doing, plain: secrets.text(`argument of ${doing}`), text: `{{${tokens.text}}}` };
    const react = `${baseUrl}/reactors/${reactorId}/react`;
    await call('POST', react, { key, body: { args } });
    if (doing !== 'throw') continue;
    const callback_url = `${receiver.url}/failed`;
    const { status, text } = await call('POST', react, { key, body: { args, callback_url } });
    requireStatus(status, 202, text);
  }
  await webhooks(receiver, 1, before);
}

/** All that is told of the runs of the reactor. */
export async function readRuns(
  { baseUrl, adminKey: key }: Product,
  { reactorId }: PlantedResources,
): Promise<Place[]> {
  const path = `${baseUrl}/reactors/${reactorId}/runs`;
  const { data } = (await call('GET', `${path}?size=100`, { key })).body as {
    data: readonly { id: string }[];
  };
  return Promise.all(
    data.map(async ({ id }): Promise<Place> => {
      const { status, text } = await call('GET', `${path}/${id}`, { key });
      requireStatus(status, 200, text);
      return [`run ${id}`, Buffer.from(text)];
    }),
  );
}

async function webhooks(receiver: Receiver, count: number, since = 0): Promise<void> {
  const deadline = performance.now() + 20_000;
  const delivered = (): number =>
    receiver.received.slice(since).filter(({ headers }) => headers['webhook-id'] !== undefined)
      .length;
  while (delivered() < count) {
    if (performance.now() > deadline) throw new Error('no webhook came');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Sends a text as it is. */
type Refused = (
  method: string,
  path: string,
  options: { key: string; headers?: Record<string, string>; body?: unknown },
) => Promise<void>;

/** Makes calls that are refused for a part that holds a secret; returns the answers. */
export async function refuseEverything(
  { baseUrl, adminKey }: Product,
  secrets: PlantedSecrets,
  { key, proxyKey, reactorId, tokens }: PlantedResources,
  receiverUrl: string,
): Promise<Place[]> {
  const refusals: Place[] = [];
  const refused: Refused = async (method, path, { key: by, headers, body }) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { 'SVC-API-KEY': by, 'Content-Type': 'application/json', ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const [{ status }, text] = [answer, await answer.text()];
    if (status < 400) throw new Error(`${method} ${path} was not refused: ${status} ${text}`);
    const place = `${method} ${path.replace(/\w+Planted/g, '…')} ${status}`;
    refusals.push([place, Buffer.from([...answer.headers].join('\n') + text)]);
  };
  const throughProxy = { 'SVC-PROXY-KEY': proxyKey };
  const malformed = [
    `{{ ${secrets.text('malformed')} malformed }}`,
    `{{ ${tokens.text} | ${secrets.text('name of a filter')} }}`,
    `{{ ${tokens.text} | hmac: 'none', '${secrets.text('key of a malformed HMAC')}' }}`,
    `{{ ${tokens.text} | json: '${secrets.text('JSON path')}[' }}`,
    `{{ ${tokens.text} | to_number }}`,
    `{{ ${tokens.object} | last4 }}`,
    `{{ ${tokens.card} | json: '$.${secrets.text('path that leads nowhere')}' }}`,
  ];
  for (const expression of malformed) {
    const react = `/reactors/${reactorId}/react`;
    await refused('POST', '/detokenize', { key, body: { expression } });
    await refused('POST', '/proxy', { key, headers: throughProxy, body: { expression } });
    await refused('POST', react, { key, body: { args: { expression } } });
    const header = { ...throughProxy, 'X-Expression': expression };
    await refused('GET', '/proxy', { key, headers: header });
    await refused('GET', `/proxy?q=${encodeURIComponent(expression)}`, {
      key,
      headers: throughProxy,
    });
    await refused('POST', '/tokens', { key, body: { data: 'x', mask: { expression } } });
  }
  await refuseValues(refused, secrets, key);
  await refused('GET', `/proxy/${secrets.text('path without a proxy')}`, { key });
  await refused('GET', `/nowhere/${secrets.text('path that is none')}`, { key });
  await refused('GET', '/proxy', {
    key: `key_${secrets.text('wrong key')}`,
    headers: throughProxy,
  });
  await refused('GET', '/proxy', {
    key,
    headers: { 'SVC-PROXY-KEY': secrets.text('wrong proxy key') },
  });
  await refused('GET', '/reactors', { key: `key_${secrets.text('another wrong key')}` });
  await refused('GET', '/proxy', {
    key,
    headers: { 'SVC-PROXY-URL': `${receiverUrl}/?k=${secrets.text('ephemeral URL')}` },
  });
  await refused('POST', `/reactors/${reactorId}/react`, {
    key,
    body: {
      args: { plain: secrets.text('argument of a refused run') },
      callback_url: `ftp://127.0.0.1/${secrets.text('refused callback')}`,
    },
  });
  await refused('POST', '/proxies', {
    key: adminKey,
    body: {
      name: 'refused',
      destination_url: `${receiverUrl}/`,
      client_certificate: { certificate: 'x', private_key: secrets.text('refused private key') },
    },
  });
  await refused('POST', '/reactors', {
    key: adminKey,
    body: { name: 'refused', configuration: { a: secrets.text('refused configuration') } },
  });
  return refusals;
}

async function refuseValues(refused: Refused, secrets: PlantedSecrets, key: string): Promise<void> {
  const wrongCard = `${secrets.digits('number that is no card', 17)}${secrets.text('no digits')}`;
  await refused('POST', '/tokens', { key, body: { type: 'card', data: { number: wrongCard } } });
  await refused('POST', '/tokens', {
    key,
    body: { type: 'social_security_number', data: secrets.text('no number of a person') },
  });
  await refused('POST', '/tokens', {
    key,
    body: { data: 'x', type: secrets.text('unknown type'), expires_at: secrets.text('no date') },
  });
  await refused('POST', '/tokenize', {
    key,
    body: { a: secrets.text('before a wrong one'), b: { type: 'card', data: wrongCard } },
  });
  await refused('POST', '/tokens/search', {
    key,
    body: { query: `data:"${secrets.text('query that is none')}` },
  });
  const headers = { 'Content-Type': 'text/plain' };
  await refused('POST', '/tokens', { key, headers, body: secrets.text('text for a token') });
  await refused('POST', '/tokens', { key, body: `{"data":"${secrets.text('no JSON')}"` });
  const twice = `"${secrets.text('name of a member that is there twice')}":1`;
  await refused('POST', '/tokens', { key, body: `{"data":{${twice},${twice}}}` });
}

function requireStatus(status: number, expected: number, text: string): void {
  if (status !== expected) throw new Error(`${status} instead of ${expected}: ${text}`);
}
