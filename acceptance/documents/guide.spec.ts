import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { paste, repository } from './pasting';
import { call, create, runningProduct } from '../product';
import { expectJson, expectShown, samplesIn, toursOf, type Sample } from './samples';
import { Workshop } from '../transforms/transforming';

const product = runningProduct();
const proxies = 'docs/proxies.md';
// Those of the client are compiled by acceptance/packages, the others run in command-line.spec.ts.
const elsewhere = ['client.md', 'first-hour.md', 'ci.md'];
const guide = readdirSync(join(repository, 'docs/guide'))
  .filter((name) => !elsewhere.includes(name))
  .map((name) => `docs/guide/${name}`);

let shop: Workshop;
const tokens = new Map<string, string>();

beforeAll(async () => {
  shop = await Workshop.open(product);
});
afterAll(() => shop.close());

describe.each([...guide, proxies])('%s', (page) => {
  // The steps of docs/proxies.md are run together with their code.
  const isOurs = ({ kind }: Sample): boolean => !/ step$|^json$/.test(kind);
  const samples = samplesIn(join(repository, page)).filter(
    (sample) => page !== proxies || isOurs(sample),
  );
  const names = [...new Set(samples.map(({ name }) => name).filter((name) => name !== ''))];
  const tours = toursOf(samples);
  const run = new Set(samples.filter(({ kind }) => kind === 'mermaid'));

  beforeAll(async () => {
    for (const sample of samples.filter(({ kind }) => kind === 'json tokens')) {
      for (const [name, token] of Object.entries(JSON.parse(sample.text) as object)) {
        tokens.set(name, (await create(product, '/tokens', token, product.privateKey)).id);
      }
      run.add(sample);
    }
  });

  for (const name of names.filter((name) => !name.includes('.'))) {
    const own = samples.filter((sample) => sample.name === name);
    it.each(runtimesOf(own))(`${name} does what the page says on %s`, async (runtime) => {
      const example = new Example(name, runtime);
      for (const sample of own) {
        await example.next(sample);
        run.add(sample);
      }
      expect(example.isSeen).toBe(true);
    });
  }

  if (tours.length > 0) {
    it('works when it is pasted', async () => {
      const files = samples.filter(({ kind }) => kind === 'js file');
      const named = Object.fromEntries(files.map(({ name, text }) => [name, text]));
      const outputs = await paste(
        tours.map(({ block }) => block),
        named,
      );
      expectShown(outputs, tours);
      const pasted = tours.map(({ block }) => block).join('\n') + JSON.stringify(named);
      for (const { name } of files) expect(pasted).toMatch(new RegExp(`[ ./']${name}`));
      for (const sample of samples) {
        if (/^(?:sh tour|js file|json output|text output)$/.test(sample.kind)) run.add(sample);
      }
    });
  }

  it('has only samples that a test runs', () => {
    expect(samples.filter((sample) => !run.has(sample)).map(({ line }) => line)).toEqual([]);
  });
});

/** Both, unless the page shows what only one of them does. */
function runtimesOf(example: readonly Sample[]): readonly string[] {
  const named = example.find(
    ({ kind, text }) => kind === 'json with' && text.includes('"runtime"'),
  );
  const [, runtime] = /"runtime": "(\w+)"/.exec(named?.text ?? '') ?? [];
  return runtime === undefined ? ['node16', 'node20'] : [runtime];
}

/** Code with its calls, in the order of the page: written, called, compared. */
class Example {
  isSeen = false;
  readonly #code: Record<string, { code: string; runtime: string }> = {};
  #more: Record<string, unknown> = {};
  #variables: Record<string, string> | undefined;
  #answer: Message | undefined;

  constructor(
    private readonly name: string,
    private readonly runtime: string,
  ) {
    shop.answer = undefined;
  }

  async next({ kind, text }: Sample): Promise<void> {
    switch (kind) {
      case 'js request':
      case 'js response':
        this.#code[`${kind.slice(3)}_transform`] = { code: text, runtime: this.runtime };
        return;
      case 'js reactor':
        this.#code.formula = { code: text, runtime: this.runtime };
        return;
      case 'json with':
        this.#more = objectIn(text.replace('$APPLICATION', shop.applicationId));
        return;
      case 'http destination': {
        const { start, headers, body } = messageIn(withTokens(text));
        shop.answer = (res) => res.writeHead(Number(start), headers).end(body);
        return;
      }
      case 'http call':
        shop.destination.received.length = 0;
        this.#answer = await send(messageIn(await this.#filledIn(text)));
        return;
      case 'http forwarded':
        return this.#expectForwarded(messageIn(withTokens(text)));
      case 'http answer':
        return this.#expectAnswer(messageIn(text));
      case 'json args':
        this.#answer = await this.#react(text);
        return;
      case 'json answer':
        return this.#expectReacted(text);
      default:
        throw new Error(`nothing is known of blocks of the kind "${kind}"`);
    }
  }

  #expectForwarded(shown: Message): void {
    if (shown.start === 'nothing') {
      expect(shop.destination.received).toEqual([]);
      return;
    }
    const [{ method, url, headers, body } = fail('nothing was forwarded')] =
      shop.destination.received;
    expectMessage({ start: `${method} ${url}`, headers: headers as Headers, body }, shown);
    this.isSeen = true;
  }

  #expectAnswer(shown: Message): void {
    expectMessage(this.#answer ?? fail('nothing was called'), shown);
    this.isSeen = true;
  }

  #expectReacted(shown: string): void {
    const { start, body } = this.#answer ?? fail('nothing was invoked');
    const { status = 200 } = JSON.parse(shown) as { status?: number };
    expect(start).toBe(String(status));
    expectJson(body, shown);
    this.isSeen = true;
  }

  async #react(args: string): Promise<Message> {
    const { REACTOR = '' } = (this.#variables ??= await this.#createReactor());
    const answer = await call('POST', `${product.baseUrl}/reactors/${REACTOR}/react`, {
      key: product.privateKey,
      body: { args: JSON.parse(withDestination(withTokens(args))) as unknown },
    });
    return { start: String(answer.status), headers: {}, body: answer.text };
  }

  async #createReactor(): Promise<Record<string, string>> {
    const { formula: more = {}, ...members } = this.#more;
    const written = { name: this.name, ...this.#code.formula, ...(more as object) };
    const { id } = await create(product, '/reactor-formulas', written);
    const reactor = { name: this.name, configuration: {}, ...members, formula: { id } };
    return { REACTOR: (await create(product, '/reactors', reactor)).id };
  }

  async #filledIn(text: string): Promise<string> {
    this.#variables ??= await this.#createProxy();
    const variables = { ...this.#variables, PRIVATE_KEY: product.privateKey };
    return Object.entries(variables).reduce(
      (filled, [name, value]) => filled.replaceAll(`$${name}`, value),
      withTokens(text),
    );
  }

  async #createProxy(): Promise<Record<string, string>> {
    const { key } = await create(product, '/proxies', {
      name: this.name,
      ...this.#code,
      ...this.#more,
      destination_url: shop.destination.url + pathOf(this.#more.destination_url),
    });
    return { PROXY_KEY: String(key) };
  }
}

/** A local server plays the destination of the page. */
const pathOf = (url: unknown): string =>
  typeof url === 'string' ? url.replace(/^https:\/\/[^/]*/, '') : '';

const withDestination = (text: string): string =>
  text.replace(/https:\/\/api\.example\.com/g, shop.destination.url);

const withTokens = (text: string): string =>
  text.replace(/\{\{ *(\w+)/g, (whole, name: string) => {
    const id = tokens.get(name);
    return id === undefined ? whole : `{{${id}`;
  });

const objectIn = (text: string) => JSON.parse(text) as Record<string, unknown>;

type Headers = Record<string, string>;

interface Message {
  readonly start: string;
  readonly headers: Headers;
  readonly body: string;
}

function messageIn(text: string): Message {
  const blank = text.indexOf('\n\n');
  const [start = '', ...lines] = (blank < 0 ? text : text.slice(0, blank)).split('\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    start,
    headers: Object.fromEntries(headers) as Headers,
    body: blank < 0 ? '' : text.slice(blank + 2),
  };
}

/** Calls with the given headers only, so that the destination sees what the page shows. */
function send({ start, headers, body }: Message): Promise<Message> {
  const [method, path] = start.split(' ');
  return new Promise((resolve, reject) => {
    const outgoing = request(`${product.baseUrl}${path}`, { method, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          start: String(res.statusCode),
          headers: res.headers as Headers,
          body: text,
        });
      });
    });
    outgoing.on('error', reject).end(body);
  });
}

/** Headers that every message has. */
const usual =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|date|cdn-loop|svc-trace-id)$/;

function expectMessage(actual: Message, shown: Message): void {
  const headers = Object.entries(actual.headers).filter(
    ([name]) => !usual.test(name) || Object.hasOwn(shown.headers, name),
  );
  expect({ start: actual.start, headers: Object.fromEntries(headers) }).toEqual({
    start: shown.start,
    headers: shown.headers,
  });
  // A page that shows one line shows the exact bytes.
  const isPretty = /^[[{]/.test(shown.body) && /\n|"…"/.test(shown.body);
  if (isPretty) expectJson(actual.body, shown.body);
  else expect(actual.body).toBe(shown.body);
}

function fail(why: string): never {
  throw new Error(why);
}
