import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, reactorOf, revealingApplication, until, type Product } from '../product';
import { startReceiver, type Receiver } from '../receiver';

/** The result of one kind of calls of the victim. */
export interface Quality {
  readonly calls: number;
  /** Unexpected answers, and how often each was given. */
  readonly failures: Readonly<Record<string, number>>;
  readonly p99Ms: number;
}

interface Timed {
  readonly status: string;
  readonly ms: number;
}

interface Kind {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const intervalMs = 40;
const asyncIntervalMs = 200;
/** The only kind that ends with a webhook and not with its answer. */
export const asyncKind = 'reactor, async, until its webhook';

/** A tenant that makes small calls of every kind at a steady pace. */
export class Victim {
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(
    private readonly product: Product,
    private readonly destination: Receiver,
    private readonly kinds: Readonly<Record<string, Kind> & { detokenize: Kind }>,
    private readonly reactPath: string,
  ) {}

  static async settle(product: Product): Promise<Victim> {
    const destination = await startReceiver();
    const privateKey = await revealingKey(product, product.adminKey);
    const proxy = await create(product, '/proxies', {
      name: 'victim',
      destination_url: destination.url,
    });
    const token = await create(product, '/tokens', { type: 'token', data: 'mine' }, privateKey);
    const reactor = await reactorOf(product, 'module.exports = async () => ({ raw: { ran: 1 } });');
    const keys = { 'svc-api-key': privateKey, 'content-type': 'application/json' };
    const post = (path: string, body: string, more = {}): Kind => ({
      method: 'POST',
      path,
      headers: { ...keys, ...more },
      body,
    });
    const through = { 'svc-proxy-key': String(proxy.key) };
    const expression = JSON.stringify({ value: `{{${token.id}}}` });
    const reactPath = `/reactors/${reactor}/react`;
    const kinds = {
      'proxy, plain': post('/proxy', '{}', through),
      'proxy, with a token': post('/proxy', expression, through),
      'reactor, sync': post(reactPath, '{}'),
      detokenize: post('/detokenize', expression),
      'list of tokens': { ...post('/tokens?size=5', ''), method: 'GET' },
    };
    return new Victim(product, destination, kinds, reactPath);
  }

  /** Makes calls of every kind at a steady pace for this time. */
  async measure(forMs: number): Promise<Readonly<Record<string, Quality>>> {
    const end = performance.now() + forMs;
    const measured = await Promise.all([
      ...Object.entries(this.kinds).map(([name, kind]) =>
        paced(name, end, intervalMs, () => this.#time(kind)),
      ),
      paced(asyncKind, end, asyncIntervalMs, () => this.#timeUntilWebhook()),
    ]);
    this.destination.received.length = 0;
    return Object.fromEntries(measured);
  }

  async leave(): Promise<void> {
    this.#agent.destroy();
    await this.destination.close();
  }

  async #timeUntilWebhook(): Promise<Timed> {
    const begun = performance.now();
    const path = `/hooks/${randomUUID()}`;
    const { status } = await this.#time({
      method: 'POST',
      path: this.reactPath,
      headers: this.kinds.detokenize.headers,
      body: JSON.stringify({ callback_url: `${this.destination.url}${path}` }),
    });
    if (status !== '202') return { status, ms: performance.now() - begun };
    const hasArrived = () =>
      Promise.resolve(this.destination.received.some(({ url }) => url === path));
    const arrived = await until(hasArrived, 20_000).then(
      () => '200',
      () => 'no webhook',
    );
    return { status: arrived, ms: performance.now() - begun };
  }

  #time({ method, path, headers, body }: Kind): Promise<Timed> {
    const begun = performance.now();
    return new Promise((resolve) => {
      const settle = (status: string): void => resolve({ status, ms: performance.now() - begun });
      const sent = request(`${this.product.baseUrl}${path}`, {
        method,
        agent: this.#agent,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        timeout: 15_000,
      });
      sent.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? 'error'));
      sent.once('timeout', () => sent.destroy());
      sent.once('response', (answer) => {
        answer.resume().once('end', () => settle(String(answer.statusCode)));
      });
      sent.end(body);
    });
  }
}

/** A key with all permissions on tokens, which sees their data. */
async function revealingKey(product: Product, adminKey: string): Promise<string> {
  const permissions = ['create', 'read', 'search', 'update', 'delete', 'use'];
  return String((await revealingApplication(product, permissions, adminKey)).key);
}

async function paced(
  name: string,
  end: number,
  everyMs: number,
  call: () => Promise<Timed>,
): Promise<readonly [string, Quality]> {
  const calls: Promise<Timed>[] = [];
  while (performance.now() < end) {
    calls.push(call());
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  const done = await Promise.all(calls);
  const times = done.map(({ ms }) => ms).sort((a, b) => a - b);
  const failures: Record<string, number> = {};
  for (const { status } of done) {
    if (status !== '200') failures[status] = (failures[status] ?? 0) + 1;
  }
  const p99Ms = Math.round(times[Math.ceil(times.length * 0.99) - 1] ?? 0);
  return [name, { calls: done.length, failures, p99Ms }];
}

/** Linux may share processors between sessions, whatever the priorities of their processes are. */
function giveWay(session: number | undefined): void {
  try {
    writeFileSync(`/proc/${session}/autogroup`, '19');
  } catch {
    // The kernel has no such groups, or lets nobody change them.
  }
}

interface Attack {
  /** Ends the attack and returns the number of answers by status. */
  end(): Promise<Readonly<Record<string, number>>>;
}

/**
 * Starts an attack of attacks.mjs as another tenant and waits until it is under way. It runs with
 * the lowest priority: a real attacker has a machine of its own, and this one shall take only what
 * the product gives it.
 */
export async function attackOf(product: Product, name: string): Promise<Attack> {
  const { baseUrl, forwardUrl, secondTenant } = product;
  const { adminKey } = secondTenant;
  const attacked = {
    baseUrl,
    forwardUrl,
    adminKey,
    privateKey: await revealingKey(product, adminKey),
  };
  const child = spawn(
    'nice',
    ['-n', '19', process.execPath, join(__dirname, 'attacks.mjs'), name],
    {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, ATTACKED: JSON.stringify(attacked) },
    },
  );
  giveWay(child.pid);
  let said = '';
  const exited = once(child, 'exit');
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  while (!said.includes('attacking\n')) {
    const [ended] = await Promise.race([once(child.stdout, 'data'), exited]);
    if (typeof ended === 'number') throw new Error(`the attack ended with ${ended}: ${said}`);
  }
  return {
    async end() {
      child.stdin.end();
      await exited;
      return JSON.parse(said.split('\n').at(-2) ?? '{}') as Record<string, number>;
    },
  };
}
