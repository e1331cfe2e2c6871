import { call, create, reactorOf, type Product } from '../product';
import { answersIn, talk } from '../raw-socket';
import { startReceiver, type Receiver } from '../receiver';

/** The resources that the requests below need. */
export interface WalkSetting {
  readonly product: Product;
  readonly receiver: Receiver;
  readonly reactorId: string;
  readonly tokenId: string;
  readonly proxyKey: string;
  readonly transformKey: string;
}

export async function prepare(product: Product): Promise<WalkSetting> {
  const receiver = await startReceiver();
  const proxy = { name: 'walked', destination_url: receiver.url };
  const request_transform = { code: 'module.exports = async ({ args }) => args' };
  const [reactorId, token, plain, transformed] = await Promise.all([
    reactorOf(product, 'module.exports = async () => ({ raw: {} })'),
    create(product, '/tokens', { type: 'token', data: '1234' }, product.privateKey),
    create(product, '/proxies', proxy),
    create(product, '/proxies', { ...proxy, request_transform }),
    putSettings(product),
  ]);
  const [proxyKey, transformKey] = [String(plain.key), String(transformed.key)];
  return { product, receiver, reactorId, tokenId: token.id, proxyKey, transformKey };
}

/** The settings are those of the second tenant. */
function putSettings(product: Product, settings: object = {}): Promise<string> {
  const body = { name: 'Second demo', settings: { enable_ephemeral_proxy: 'true', ...settings } };
  return ask(product, 'PUT', '/tenants/self', body, product.secondTenant.adminKey);
}

async function ask(
  { baseUrl }: Product,
  method: string,
  path: string,
  body: unknown,
  key: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await call(method, `${baseUrl}${path}`, { key, body, headers });
  return outcomeOf(answer.status, answer.text);
}

/** The status, with the code of an error. */
export function outcomeOf(status: number, text: string): string {
  if (status < 400) return String(status);
  const body = JSON.parse(text) as { code?: string; proxy_error?: { code: string } };
  return `${status} ${body.proxy_error?.code ?? body.code}`;
}

/** A body of JSON that blanks make as long as the limit says. */
export interface BodyWalk {
  readonly within: string;
  readonly beyond: string;
  /** The only framing that has the limit. */
  readonly framing?: 'chunked';
  readonly json: string;
  head(walked: WalkSetting): string;
}

const tooLarge = '413 payload_too_large';

export const bodies: Readonly<Record<string, BodyWalk>> = {
  PROXY_BUFFER_MAX: {
    ...{ within: '200', beyond: '200', json: '"x"' },
    head: (walked) => `POST /proxy ${walked.product.privateKey}\nSVC-PROXY-KEY: ${walked.proxyKey}`,
  },
  'content.transformedBytesMax': {
    ...{ within: '200', beyond: tooLarge, json: '{}' },
    head: (walked) =>
      `POST /proxy ${walked.product.privateKey}\nSVC-PROXY-KEY: ${walked.transformKey}`,
  },
  'react-handler.invocationBytesMax': {
    ...{ within: '200', beyond: tooLarge, json: '{}' },
    head: ({ reactorId, product }) => `POST /reactors/${reactorId}/react ${product.privateKey}`,
  },
  'body.interceptor.bodyBytesMax': {
    ...{
      within: '201',
      beyond: tooLarge,
      json: '{"name":"x","type":"private","permissions":["token:read"]}',
    },
    head: ({ product }) => `POST /applications ${product.adminKey}`,
  },
  'front-door.managementBodyBytesMax': {
    ...{ within: '200', beyond: tooLarge, json: '{"items":[],"dry_run":true}' },
    head: ({ product }) => `POST /deployments ${product.adminKey}`,
  },
  'front-door.smuggledBodyBytesMax': {
    ...{ within: '404 not_found', beyond: tooLarge, json: '{}', framing: 'chunked' },
    head: ({ product }) => `DELETE /proxies/none ${product.adminKey}`,
  },
  'tokens.controller.tokenBodyBytesMax': {
    ...{ within: '201', beyond: tooLarge, json: '{"data":1}' },
    head: ({ product }) => `POST /tokens ${product.privateKey}`,
  },
  'tokenize.controller.documentBytesMax': {
    ...{ within: '200', beyond: tooLarge, json: '{}' },
    head: ({ product }) => `POST /detokenize ${product.privateKey}`,
  },
};

/** A request as near to a limit as `size` says. */
interface Walk {
  readonly within: string;
  readonly beyond: string;
  /** The limit is the least that is taken. */
  readonly isLeast?: true;
  send(walked: WalkSetting, size: number): Promise<string>;
}

const invalid = '400 validation_failed';
const list = <Entry>(length: number, entry: (at: number) => Entry): Entry[] =>
  Array.from({ length }, (_, at) => entry(at));
const record = (length: number): Record<string, string> =>
  Object.fromEntries(list(length, (at) => [`m${at}`, 'x']));
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

/** The body of a resource that the management key may create. */
const creates = (path: string, of: (size: number) => object): Walk => ({
  ...{ within: '201', beyond: invalid },
  send: ({ product }, size) => ask(product, 'POST', path, of(size), product.adminKey),
});

const application = (of: (size: number) => object): Walk =>
  creates('/applications', (size) => ({ name: 'walked', type: 'private', ...of(size) }));

const page = (of: (size: number) => string[]): Walk =>
  application((size) => ({
    ...{ type: 'public', permissions: ['token:create'] },
    allowed_origins: of(size),
  }));

const formula = (of: (size: number) => object): Walk =>
  creates('/reactor-formulas', (size) => ({
    ...{ name: 'walked', type: 'private', code: 'module.exports = () => ({})' },
    ...of(size),
  }));

const proxy = (of: (size: number) => object): Walk =>
  creates('/proxies', (size) => ({
    ...{ name: 'walked', destination_url: 'https://a.example/' },
    ...of(size),
  }));

const steps = (of: (size: number) => object[]): Walk =>
  proxy((size) => ({ request_transforms: of(size) }));

const append = (options: object): object => ({
  type: 'append',
  options: { location: 'header', name: 'x', value: 'y', ...options },
});

const token = (of: (size: number) => object): Walk => ({
  ...{ within: '201', beyond: invalid },
  send: ({ product }, size) =>
    ask(product, 'POST', '/tokens', { data: 'x', ...of(size) }, product.privateKey),
});

/** JSON that no object of JavaScript would give. */
const posted = (path: string, within: string, of: (size: number) => string): Walk => ({
  ...{ within, beyond: '400 invalid_json' },
  send: async ({ product }, size) => {
    const headers = { 'SVC-API-KEY': product.privateKey, 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: of(size) };
    const answer = await fetch(`${product.baseUrl}${path}`, init);
    return outcomeOf(answer.status, await answer.text());
  },
});

const listed = (of: (size: number) => string, key: 'adminKey' | 'privateKey'): Walk => ({
  ...{ within: '200', beyond: invalid },
  send: ({ product }, size) => ask(product, 'GET', of(size), undefined, product[key]),
});

const searched = (of: (size: number) => string): Walk => ({
  ...{ within: '200', beyond: invalid },
  send: ({ product }, size) =>
    ask(product, 'POST', '/tokens/search', { query: of(size) }, product.privateKey),
});

const setting = (of: (size: number) => object): Walk => ({
  ...{ within: '200', beyond: invalid },
  send: ({ product }, size) => putSettings(product, of(size)),
});

const expression = (of: (size: number, id: string) => string): Walk => ({
  ...{ within: '200', beyond: '400 invalid_expression' },
  send: ({ product, proxyKey, tokenId }, size) =>
    ask(product, 'POST', '/proxy', { text: of(size, tokenId) }, product.privateKey, {
      'SVC-PROXY-KEY': proxyKey,
    }),
});

const asyncRun = (isLeast?: true): Walk => ({
  ...{ within: '202', beyond: invalid, ...(isLeast && { isLeast }) },
  send: ({ product, reactorId, receiver }, timeout_ms) => {
    const body = { callback_url: receiver.url, timeout_ms };
    return ask(product, 'POST', `/reactors/${reactorId}/react`, body, product.privateKey);
  },
});

/** The head of a request, of which `lines` are a part. */
const head = (lines: (size: number) => string): Walk => ({
  ...{ within: '200', beyond: '431 invalid_request' },
  send: async ({ product }, size) => {
    const request = `GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines(size)}\r\n`;
    const [answer] = answersIn(await talk(product.baseUrl, request));
    return outcomeOf(answer?.status ?? 0, answer?.body ?? '');
  },
});

export const walks: Readonly<Record<string, Walk>> = {
  // Names and values count, and the path.
  'caller-server.headBytesMax': head(
    (size) => `A: ${'x'.repeat(size - '/health/liveHostaConnectioncloseA'.length)}\r\n`,
  ),
  'intake.headersMax': head((size) => 'A: b\r\n'.repeat(size - 2)),
  'react-handler.asyncTimeoutMinMs': asyncRun(true),
  'reactor-response.asyncTimeoutMaxMs': asyncRun(),
  'chosen-url.chosenUrlMax': {
    ...{ within: '201, 202, 200', beyond: `${invalid}, ${invalid}, 400 invalid_request` },
    send: async ({ product, receiver, reactorId }, size) => {
      const url = `${receiver.url}/`.padEnd(size, 'x');
      const { adminKey, privateKey, secondTenant } = product;
      const proxied = { name: 'walked', destination_url: url };
      const outcomes = await Promise.all([
        ask(product, 'POST', '/proxies', proxied, adminKey),
        ask(product, 'POST', `/reactors/${reactorId}/react`, { callback_url: url }, privateKey),
        ask(product, 'GET', '/proxy', undefined, secondTenant.privateKey, { 'SVC-PROXY-URL': url }),
      ]);
      return outcomes.join(', ');
    },
  },
  'applications.dto.rulesMax': application((size) => ({
    rules: list(size, (at) => ({
      ...{ priority: at + 1, container: `/c${at}/`, transform: 'redact' },
      permissions: ['token:read'],
    })),
  })),
  'resource-limits.allowedOriginsMax': page((size) =>
    list(size, (at) => `https://page-${at}.example`),
  ),
  'resource-limits.originMax': page((size) => [
    `https://${'a.'.repeat(size)}`.slice(0, size - 1) + 'b',
  ]),
  'resource-limits.matchedHostsMax': proxy((size) => ({
    match: { hosts: list(size, (at) => `h${size}-${at}.example`) },
  })),
  'resource-limits.matchedPathsMax': proxy((size) => ({
    match: { hosts: [`p${size}.example`], paths: list(size, (at) => `/${at}`) },
  })),
  'resource-limits.matchedPatternMax': proxy((size) => ({
    match: { hosts: ['paths.example'], paths: [`/${'x'.repeat(size - 1)}`] },
  })),
  'resource-limits.containerMax': application((size) => ({
    rules: [
      {
        ...{ priority: 1, container: `/${'x'.repeat(size - 2)}/`, transform: 'redact' },
        permissions: ['token:read'],
      },
    ],
  })),
  'resource-limits.listEntriesMax': application((size) => ({
    permissions: list(size, () => 'token:read'),
  })),
  'resource-limits.slugMax': formula((size) => ({ slug: 'x'.repeat(size) })),
  'resource-limits.nameMax': application((size) => ({
    ...{ name: 'x'.repeat(size), permissions: ['token:read'] },
  })),
  'resource-limits.descriptionMax': formula((size) => ({ description: 'x'.repeat(size) })),
  'resource-limits.mapMembersMax': proxy((size) => ({ configuration: record(size) })),
  'resource-limits.mapNameMax': proxy((size) => ({ configuration: { ['x'.repeat(size)]: 'y' } })),
  'resource-limits.mapValueMax': setting((size) => ({ walked: 'x'.repeat(size) })),
  'configuration.configurationBytesMax': proxy((size) => ({
    configuration: { x: 'x'.repeat(size - 1) },
  })),
  'code-members.codeMax': formula((size) => ({
    code: 'module.exports = () => ({})'.padEnd(size, ';'),
  })),
  'reactor-formulas.dto.parametersMax': formula((size) => ({
    request_parameters: list(size, (at) => ({ name: `p${at}`, type: 'string' })),
  })),
  'reactor-formulas.dto.parameterNameMax': formula((size) => ({
    request_parameters: [{ name: 'x'.repeat(size), type: 'string' }],
  })),
  'reactor-formulas.dto.iconMax': formula((size) => ({ icon: 'x'.repeat(size) })),
  'listing.pageSizeMax': listed((size) => `/proxies?size=${size}`, 'adminKey'),
  'transform-steps.stepsMax': steps((size) => list(size, () => append({}))),
  'transform-steps.stepPathMax': steps((size) => [
    { type: 'remove', options: { location: 'body', path: `$.${'x'.repeat(size - 2)}` } },
  ]),
  'transform-steps.stepExpressionMax': steps((size) => [
    { type: 'mask', options: { path: '$.a', expression: '{{ $.a }}'.padEnd(size, 'x') } },
  ]),
  'transform-steps.stepNameMax': steps((size) => [append({ name: 'x'.repeat(size) })]),
  'transform-steps.stepValueMax': steps((size) => [append({ value: 'x'.repeat(size) })]),
  'transform-steps.stepJsonBytesMax': steps((size) => [
    append({ location: 'body', path: '$.a', value: 'x'.repeat(size - 2) }),
  ]),
  'logs.dto.textMax': listed((size) => `/logs?operation=${'x'.repeat(size)}`, 'adminKey'),
  'deliveries.dto.hostMax': listed(
    (size) => `/webhook-deliveries?host=${'x'.repeat(size)}`,
    'adminKey',
  ),
  'deliveries.dto.replayedMax': {
    ...{ within: '202', beyond: invalid },
    send: ({ product }, limit) => {
      const body = { filter: { host: 'nowhere.example' }, limit };
      return ask(product, 'POST', '/webhook-deliveries/replay', body, product.adminKey);
    },
  },
  'calls.dto.codeMax': listed((size) => `/calls?code=${'x'.repeat(size)}`, 'adminKey'),
  'calls.dto.pathMax': listed((size) => `/calls/summary?resource=${'x'.repeat(size)}`, 'adminKey'),
  'runs.dto.traceIdMax': listed((size) => `/runs?trace_id=${'x'.repeat(size)}`, 'adminKey'),
  'json-scanner.jsonValuesMax': posted(
    '/tokenize',
    invalid,
    (size) => `{"a":[${'1,'.repeat(size - 3)}1]}`,
  ),
  'json-scanner.jsonMembersMax': posted(
    '/tokens',
    invalid,
    (size) => `{"data":1,"metadata":${JSON.stringify(record(size))}}`,
  ),
  'json-scanner.jsonDepthMax': posted('/tokenize', '201', (size) => JSON.stringify(nested(size))),
  'strict-json.jsonNumberCharactersMax': posted(
    '/tokenize',
    '201',
    (size) => `{"a":1.${'0'.repeat(size - 2)}}`,
  ),
  'valid-token.tokenBytesMax': token((size) => ({ data: 'x'.repeat(size - 2) })),
  'valid-token.searchIndexesMax': token((size) => ({
    search_indexes: list(size, () => '{{ data }}'),
  })),
  'valid-token.expressionCharactersMax': token((size) => ({
    fingerprint_expression: `{{ data ${' '.repeat(size - 10)}}}`,
  })),
  'valid-token.metadataMembersMax': token((size) => ({ metadata: record(size) })),
  'valid-token.metadataNameCharactersMax': token((size) => ({
    metadata: { ['x'.repeat(size)]: 'y' },
  })),
  'valid-token.metadataValueCharactersMax': token((size) => ({
    metadata: { x: 'y'.repeat(size) },
  })),
  'destinations.destinationsMax': token((size) => ({
    destinations: list(size, (at) => `host-${at}.example`),
  })),
  'destinations.destinationCharactersMax': token((size) => ({
    destinations: [`a.example/${'x'.repeat(size - 10)}`],
  })),
  'derived-values.maskBytesMax': token((size) => ({
    ...{ data: 'x'.repeat(size / 2) },
    mask: `{{ data }}${'y'.repeat(size - 2 - Math.trunc(size / 2))}`,
  })),
  'tokenize.tokenizedTokensMax': {
    ...{ within: '201', beyond: invalid },
    send: ({ product }, size) => {
      const body = list(size, () => ({ type: 'token', data: 'x' }));
      return ask(product, 'POST', '/tokenize', body, product.privateKey);
    },
  },
  'search-query.queryCharactersMax': searched((size) => 'type:token'.padEnd(size, ' ')),
  'search-query.queryDepthMax': searched(
    (size) => `${'('.repeat(size)}type:token${')'.repeat(size)}`,
  ),
  'search-query.searchTermsMax': searched((size) => list(size, () => 'type:token').join(' OR ')),
  'token-filter.filterIdsMax': listed((size) => `/tokens?${'id=xxx&'.repeat(size)}`, 'privateKey'),
  'token-filter.filterTypesMax': listed(
    (size) => `/tokens?${'type=token&'.repeat(size)}`,
    'privateKey',
  ),
  'token-filter.filterNamesMax': listed(
    (size) => `/tokens?${list(size, (at) => `metadata.m${at}=x`).join('&')}`,
    'privateKey',
  ),
  'limits.expressionBytesMax': expression((size, id) => `{{${id.padEnd(size - 4)}}}`),
  'limits.expressionsMax': expression((size, id) => `{{${id}}}`.repeat(size)),
  'limits.filtersMax': expression((size, id) => `{{ ${id}${' | last4'.repeat(size)} }}`),
  'limits.paddingMax': expression((size, id) => `{{ ${id} | pad_left: ${size} }}`),
};
