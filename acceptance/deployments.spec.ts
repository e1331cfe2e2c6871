import { randomUUID } from 'node:crypto';
import { createOwnTenant, type OwnTenant } from './own-tenant';
import { call, create, runningProduct, until, type Answer } from './product';

const product = runningProduct();
const { baseUrl } = product;
const run = randomUUID().slice(0, 8);
const callsPerSecond = 200;
/** A machine that serves fewer gets no more than it serves. */
const underWayMax = 64;

interface Deployment {
  readonly id: string;
  readonly changes: readonly { readonly slug: string; readonly id: string }[];
}

/** Code and configuration that say which set they are of, and forty more resources beside them. */
const setOf = (version: string): object[] => [
  {
    ...{ kind: 'reactor', slug: `answers-${run}`, name: 'Answers' },
    formula: {
      code: `module.exports = ({ configuration }) => ({ raw: { code: '${version}', configuration: configuration.VERSION } });`,
      configuration: [{ name: 'VERSION', type: 'string' }],
      runtime: 'node24',
    },
    configuration: { VERSION: version },
  },
  ...Array.from({ length: 40 }, (_, n) => ({
    ...{ kind: 'proxy', slug: `beside-${n}-${run}`, name: version },
    destination_url: 'https://bank.example',
  })),
];

/** A tenant of its own: a rollback prunes what any other files have put in force. */
let tenant: OwnTenant;
let key: string;
beforeAll(async () => {
  tenant = await createOwnTenant(`deployments ${run}`);
  const may = { name: 'deploys', type: 'management', permissions: ['deployment:create'] };
  key = String((await create(product, '/applications', may, tenant.management_key)).key);
});

async function put(path: string, body: object): Promise<Deployment> {
  const answer = await call('POST', `${baseUrl}${path}`, { key, body });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body as unknown as Deployment;
}

/** Calls a reactor steadily, and remembers when each call began and what it was answered. */
class Caller {
  readonly answers: { readonly at: number; readonly answer: Promise<Answer> }[] = [];
  /** When the last call began that was answered well. */
  served = 0;
  #underWay = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(react: () => Promise<Answer>) {
    const began = performance.now();
    this.#timer = setInterval(() => {
      const due = ((performance.now() - began) * callsPerSecond) / 1_000;
      while (this.answers.length < due && this.#underWay < underWayMax) {
        const at = performance.now();
        const answer = react();
        this.answers.push({ at, answer });
        this.#underWay += 1;
        void answer.finally(() => (this.#underWay -= 1)).catch(() => undefined);
        const note = ({ status }: Answer): void => {
          if (status === 200) this.served = Math.max(this.served, at);
        };
        answer.then(note, () => undefined);
      }
    }, 5);
  }

  async stop(): Promise<{ at: number; status: number; code: unknown; configuration: unknown }[]> {
    clearInterval(this.#timer);
    return Promise.all(
      this.answers.map(async ({ at, answer }) => {
        const { status, body } = await answer;
        const { code, configuration } = (body.raw ?? {}) as Record<string, unknown>;
        return { at, status, code: status === 200 ? code : body.code, configuration };
      }),
    );
  }
}

it('no call under load sees half of a deployment or of its rollback, and each is in force when answered', async () => {
  const first = await put('/deployments', { items: setOf('1') });
  const reactor = first.changes.find(({ slug }) => slug === `answers-${run}`)?.id ?? '';
  const react = (): Promise<Answer> =>
    call('POST', `${baseUrl}/reactors/${reactor}/react`, {
      key: tenant.private_key,
      body: { args: {} },
    });
  const caller = new Caller(react);
  const inForce: { from: number; version: string }[] = [];
  const change = async (version: string, work: Promise<Deployment>): Promise<void> => {
    await work;
    inForce.push({ from: performance.now(), version });
    // The first call after the answer already runs it. A busy sandbox may have no place.
    let first: Answer;
    do first = await react();
    while (first.status !== 200);
    expect(first.body.raw).toEqual({ code: version, configuration: version });
  };
  for (const version of ['2', '3', '4']) {
    await change(version, put('/deployments', { items: setOf(version) }));
    await change('1', put(`/deployments/${first.id}/rollback`, {}));
  }
  const last = inForce.at(-1);
  await until(() => Promise.resolve(caller.served > (last?.from ?? 0)));
  const answers = await caller.stop();

  expect(answers.length).toBeGreaterThan(100);
  const whole = answers.filter(({ status }) => status === 200);
  expect(whole.filter(({ code, configuration }) => code !== configuration)).toEqual([]);
  expect(new Set(whole.map(({ code }) => code)).size).toBeGreaterThan(1);
  // A call that was decided before a change, and not begun, is told to come again.
  const refused = answers.filter(({ status }) => status !== 200).map(({ code }) => code);
  expect(
    [...new Set(refused)].filter((code) => !/changed_meanwhile|no_capacity/.test(String(code))),
  ).toEqual([]);
  const late = whole.filter(({ at }) => last !== undefined && at > last.from);
  expect(new Set(late.map(({ code }) => code))).toEqual(new Set([last?.version]));
});

it('a key that may deploy and nothing else can do nothing else', async () => {
  for (const path of ['/deployments', '/reactors', '/proxies', '/applications', '/runs', '/logs']) {
    expect((await call('GET', `${baseUrl}${path}`, { key })).status).toBe(403);
  }
  const management = { kind: 'application', slug: `m-${run}`, name: 'm', type: 'management' };
  const answer = await call('POST', `${baseUrl}/deployments`, {
    key,
    body: { items: [{ ...management, permissions: ['application:create'] }] },
  });
  expect(answer.status).toBe(400);
});
