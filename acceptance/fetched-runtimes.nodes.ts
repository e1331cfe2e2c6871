import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOwnProduct, type OwnProduct } from './own-product';
import { call, create, until } from './product';

// A start takes 3 s, a runtime about 6 s, and both many times as long on a busy machine.
jest.setTimeout(300_000);

const installed = join(__dirname, '../apps/runner/runtimes');
const folder = mkdtempSync(join(tmpdir(), 'glovebox-fetched-'));
let product: OwnProduct;

/** The runtimes of a fresh checkout after its first start. */
beforeAll(async () => {
  for (const name of ['node16', 'node20', 'node22', 'node24']) {
    mkdirSync(join(folder, name));
    for (const file of ['package.json', 'package-lock.json']) {
      cpSync(join(installed, name, file), join(folder, name, file));
    }
  }
  cpSync(join(installed, 'node20/node_modules'), join(folder, 'node20/node_modules'), {
    recursive: true,
  });
  product = await startOwnProduct({ RUNNER_RUNTIMES_DIR: folder });
});
afterAll(async () => {
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.each(['node22', 'node24'])(
  'the first run of a formula on %s fetches the runtime, waits for it, and is served',
  async (runtime) => {
    const formula = await create(product, '/reactor-formulas', {
      name: runtime,
      code: 'module.exports = async ({ args }) => ({ raw: { v: process.version, args } })',
      runtime,
    });
    const { id } = await create(product, '/reactors', {
      name: runtime,
      configuration: {},
      formula: { id: formula.id },
    });
    const react = () =>
      call('POST', `${product.baseUrl}/reactors/${id}/react`, {
        key: product.privateKey,
        body: { args: { a: 1 } },
      });
    await until(async () => {
      const { status, body, headers } = await react();
      // Where the registry takes longer than a call may wait.
      if (status === 503) {
        expect(body).toMatchObject({
          code: 'no_capacity',
          detail: 'The runtime of the reactor is being fetched.',
        });
        expect(headers.get('retry-after')).toBe('5');
        return false;
      }
      expect(status).toBe(200);
      expect(body.raw).toEqual({
        v: expect.stringMatching(new RegExp(`^v${runtime.slice(4)}\\.`)) as string,
        args: { a: 1 },
      });
      return true;
    }, 120_000);
  },
);
