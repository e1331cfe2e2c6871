import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '../tools/lib/ports.mjs';
import { compare, pin, ratio, report } from './lib/compare.mjs';
import { withProduct } from './lib/product.mjs';

export const about = 'the management API against a bare Nest (P14)';

export async function run() {
  await withProduct({}, async (dev) => {
    for (const pid of Object.values(dev.pids)) pin(pid, 1);
    const port = await freePort();
    const peer = fileURLToPath(new URL('./peers/bare-nest.cjs', import.meta.url));
    const bare = spawn(process.execPath, [peer, String(port)], { stdio: 'inherit' });
    try {
      const pid = dev.pids['management-api'];
      const headers = { 'SVC-API-KEY': dev.adminKey };
      const formula = await createFormula(dev);
      const results = await compare([
        { name: 'bare Nest', pid: bare.pid, url: `http://127.0.0.1:${port}/answer` },
        { name: 'GET without the database', pid, url: `${dev.managementUrl}/permissions`, headers },
        {
          name: 'GET by id',
          pid,
          url: `${dev.managementUrl}/reactor-formulas/${formula}`,
          headers,
        },
      ]);
      report(results);
      const line = (name, goal) =>
        console.log(`${name}: ${ratio(results, name, 'bare Nest')} × bare Nest, goal ${goal}`);
      line('GET without the database', '≥ 0.9');
      line('GET by id', '≥ 0.35');
      console.log('target on core 0; load generator, Postgres and Redis on core 1');
    } finally {
      bare.kill();
    }
  });
}

async function createFormula({ managementUrl, adminKey }) {
  const answer = await fetch(`${managementUrl}/reactor-formulas`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'bench', code: 'module.exports = () => ({})' }),
  });
  return (await answer.json()).id;
}
