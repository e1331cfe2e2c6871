import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { create, revealingApplication, call, runningProduct } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { startBrowser, type OpenBrowser } from './browser';

const run = promisify(execFile);
const product = runningProduct();
const root = join(__dirname, '../..');

/** What a shop writes for its page. */
const program = `
  import { errors, Glovebox } from '@glovebox/client';
  window.pay = async (url, key, marker) => {
    const glovebox = new Glovebox({ url, key });
    const body = { type: 'token', data: '4242', metadata: { marker } };
    const { id } = await glovebox.post('/tokens', { body });
    const changed = await glovebox.patch('/tokens/{id}', { params: { path: { id } }, body: { data: '4343' } });
    const names = (error) => Object.keys(errors).filter((name) => error instanceof errors[name]);
    const mistyped = await glovebox.post('/tokens', { body: { ...body, metdata: {} } }).catch(names);
    const refused = await glovebox.get('/tenants/self').catch(names);
    return { id, changed: changed.id, mistyped, refused };
  };`;

let opened: OpenBrowser;
let site: Receiver;
let script: string;
/** The packed client, bundled as a page of somebody else would be. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-page-'));
  try {
    const { stdout } = await run(process.execPath, [join(root, 'tools/pack.mjs'), folder]);
    const file =
      stdout.split('\n').find((one) => basename(one).startsWith('glovebox-client')) ?? '';
    const place = join(folder, 'node_modules/@glovebox/client');
    mkdirSync(place, { recursive: true });
    await run('tar', ['-xzf', file, '-C', place, '--strip-components=1']);
    symlinkSync(
      join(root, 'node_modules/openapi-fetch'),
      join(folder, 'node_modules/openapi-fetch'),
    );
    writeFileSync(join(folder, 'page.js'), program);
    const outfile = join(folder, 'bundle.js');
    await build({
      ...{ entryPoints: [join(folder, 'page.js')], bundle: true, outfile, logLevel: 'silent' },
      ...{ platform: 'browser', format: 'iife', minify: true },
    });
    script = readFileSync(outfile, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  opened = await startBrowser();
  site = await startReceiver((res, { url }) => {
    const isScript = url === '/bundle.js';
    const type = isScript ? 'text/javascript' : 'text/html; charset=utf-8';
    res.writeHead(200, { 'Content-Type': type });
    res.end(isScript ? script : '<!doctype html><script src="/bundle.js"></script>');
  });
});
afterAll(async () => {
  await Promise.all([opened.close(), site.close()]);
});

it('the packed client works in a page of another origin, with the key of a public application', async () => {
  const shop = await create(product, '/applications', {
    ...{ name: 'shop', type: 'public', permissions: ['token:create', 'token:update'] },
    allowed_origins: [site.url],
  });
  const page = await opened.browser.newPage();
  try {
    await page.goto(site.url);
    const marker = randomUUID();
    const given = JSON.stringify([product.baseUrl, shop.key, marker]);
    const done = await page.evaluate(`window.pay(...${given})`);
    expect(done).toEqual({
      id: expect.any(String),
      changed: (done as { id: string }).id,
      mistyped: ['validation_failed'],
      // A page may not read the answer of another path: for it there is none.
      refused: [],
    });
    const { key } = await revealingApplication(product, ['read']);
    const url = `${product.baseUrl}/tokens?metadata.marker=${marker}`;
    const { data } = (await call('GET', url, { key: String(key) })).body;
    expect(data).toMatchObject([{ id: (done as { id: string }).id, data: '4343' }]);
  } finally {
    await page.close();
  }
});
