import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOwnTenant } from '../own-tenant';
import { call, revealingApplication, runningProduct, scriptEnvironment } from '../product';
import { startOtherApi } from './other-api';

jest.setTimeout(3_600_000);

const product = runningProduct();
const tools = join(__dirname, '../../tools');
const count = 100_000;
const memoryMax = 256 * 1024 * 1024;
const reveals = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] };

const idOf = (nth: number): string =>
  createHash('sha256')
    .update(`many ${nth}`)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');

/** What the process holds in memory at most, as the kernel counts. */
function peakOf(pid: number | undefined): number {
  const [, kilobytes = '0'] =
    /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

it('100,000 tokens are copied in flat memory', async () => {
  const { management_key: adminKey } = await createOwnTenant('many');
  const { key } = await revealingApplication(product, ['create', 'read'], adminKey);
  const data = 'x'.repeat(500);
  const other = await startOtherApi({
    reader: { rules: [reveals] },
    hasCursor: true,
    tokens: { count, at: (nth) => ({ id: idOf(nth), type: 'token', data }) },
  });
  let peak = 0;
  const copy = async (): Promise<{ took: number; sum: Record<string, unknown> }> => {
    const begun = performance.now();
    const child = spawn(
      process.execPath,
      [join(tools, 'copy-from.mjs'), '--json', '--only', 'tokens'],
      {
        env: {
          ...{
            PATH: scriptEnvironment().PATH,
            FROM_URL: other.url,
            FROM_TOKEN_KEY: other.tokenKey,
          },
          ...{ GLOVEBOX_URL: product.baseUrl, GLOVEBOX_PRIVATE_KEY: String(key) },
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const watch = setInterval(() => {
      peak = Math.max(peak, peakOf(child.pid));
    }, 100);
    child.once('exit', () => clearInterval(watch));
    await new Promise((done) => child.once('close', done));
    return { took: performance.now() - begun, sum: JSON.parse(said) as Record<string, unknown> };
  };
  try {
    const first = await copy();
    expect(first.sum).toMatchObject({ copied: count, there: 0, skipped: 0 });
    const second = await copy();
    expect(second.sum).toMatchObject({ copied: 0, there: count, skipped: 0 });
    const last = `${product.baseUrl}/tokens/${idOf(count - 1)}`;
    expect((await call('GET', last, { key: String(key) })).body.data).toBe(data);
    expect(peak).toBeLessThan(memoryMax);
    process.stderr.write(
      `100,000 tokens: ${(first.took / 1_000).toFixed(0)} s, again ${(second.took / 1_000).toFixed(0)} s, ` +
        `at most ${(peak / 1024 / 1024).toFixed(0)} MiB\n`,
    );
  } finally {
    await other.close();
  }
});
