import { createHash, randomUUID } from 'node:crypto';
import { codeIdOf, codePlace } from '@glovebox/runs';
import { startDestination, startRunner, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

let runner: Awaited<ReturnType<typeof startRunner>>;
let destination: Destination;
let gateway: SpecGateway;
let key: string;

beforeAll(async () => {
  [runner, destination] = await Promise.all([
    startRunner(),
    startDestination((request, response) => void response.end(request.text())),
  ]);
  gateway = await startSpecGateway({
    RUNNER_URLS: runner.url,
    RUNNER_SECRET: runner.secret,
    LOG_LEVEL: 'silent',
  });
  key = await gateway.application(['token:use']);
});
afterAll(async () => {
  await gateway.close();
  await destination.close();
  await runner.stop();
});

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex');

/** A text of 1 MiB. */
function textOf(body: string): string {
  const code = `module.exports = ({ args }) => { ${body} }; //`;
  return code + 'x'.repeat(1024 * 1024 - code.length);
}

/** Keeps the text as an upload does, and returns what a definition has of it. */
async function bundle(code: string, tenantId: string = gateway.tenantId) {
  const hash = hashOf(code);
  const id = codeIdOf(hash) ?? '';
  const sealed = await gateway.ctx.sealer.seal(codePlace(tenantId, id), code);
  await gateway.asAdmin(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at)
     VALUES ('${tenantId}', '${id}', '\\x${sealed.toString('hex')}', 'infinity')`,
  );
  return { code: '', codeHash: hash, bundleHash: hash, runtime: 'node20' as const };
}

async function reactor(code: Awaited<ReturnType<typeof bundle>>): Promise<string> {
  const { tenantId } = gateway;
  const [id, formulaId] = [randomUUID(), randomUUID()];
  await gateway.define({
    ...{ kind: 'formula', id: formulaId, tenantId, requestParameters: [] },
    ...code,
  });
  await gateway.define({
    ...{ kind: 'reactor', id, tenantId, formulaId },
    ...{ applicationId: null, configuration: {}, isolation: 'warm' },
  });
  return id;
}

async function react(id: string, args: object = {}) {
  const answer = await fetch(`${gateway.url}/reactors/${id}/react`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ args }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

it('a reactor whose formula has a bundle of 1 MiB runs, and its text is read once', async () => {
  const id = await reactor(await bundle(textOf('return { raw: { sum: args.a + 1 } };')));
  const { texts } = gateway.ctx.bundles.state;
  for (const a of [1, 2, 3]) {
    expect(await react(id, { a })).toEqual({ status: 200, body: { raw: { sum: a + 1 } } });
  }
  expect(gateway.ctx.bundles.state.texts).toBe(texts + 1);
});

it('an error in a bundle has its position, and the run names its text', async () => {
  const code = await bundle(textOf('\n  throw new Error("broken");'));
  const { status, body } = await react(await reactor(code));
  expect([status, body]).toMatchObject([500, { position: { line: 2 } }]);
  const named = `SELECT FROM ended_runs WHERE code_id = '${codeIdOf(code.codeHash)}'`;
  await waitFor(async () => (await gateway.asAdmin(named)).length === 1);
});

it('bundles of a proxy change its request and its answer', async () => {
  const proxyKey = await gateway.proxy(destination.url, {
    requestTransform: await bundle(
      textOf('return { headers: args.headers, body: args.body + 1 };'),
    ),
    responseTransform: await bundle(textOf('return { body: args.body + 2 };')),
  });
  const answer = await fetch(`${gateway.url}/proxy`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, 'Content-Type': 'text/plain' },
    body: '0',
  });
  expect(await answer.text()).toBe('012');
});

it('a text of another tenant, or of another hash, is never run', async () => {
  const foreign = await bundle(textOf('return { raw: "foreign" };'), randomUUID());
  expect(await react(await reactor(foreign))).toMatchObject({ status: 500 });
  const [asked, found] = [await bundle(textOf('return {};')), textOf('return { raw: 1 };')];
  const id = codeIdOf(asked.codeHash) ?? '';
  const sealed = await gateway.ctx.sealer.seal(codePlace(gateway.tenantId, id), found);
  await gateway.asAdmin(
    `UPDATE code_texts SET text = '\\x${sealed.toString('hex')}' WHERE id = '${id}'`,
  );
  const answer = await react(await reactor(asked));
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } });
});

it('a text that cannot be read ends its run alone, and the next run reads it', async () => {
  const known = await reactor(await bundle(textOf('return { raw: "known" };')));
  expect(await react(known)).toMatchObject({ status: 200 });
  const id = await reactor(await bundle(textOf('return { raw: "late" };')));
  await gateway.asAdmin('ALTER TABLE code_texts RENAME TO code_texts_away');
  try {
    expect((await react(known)).body).toEqual({ raw: 'known' });
    const { status } = await react(id);
    expect(status).toBe(500);
  } finally {
    await gateway.asAdmin('ALTER TABLE code_texts_away RENAME TO code_texts');
  }
  expect(await react(id)).toMatchObject({ status: 200, body: { raw: 'late' } });
});
