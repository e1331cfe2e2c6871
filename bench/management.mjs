import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '../tools/lib/ports.mjs';
import { compare, pin, ratio, report } from './lib/compare.mjs';
import { withProduct } from './lib/product.mjs';

export const about = 'the management API against a bare Nest (P14)';

export async function run() {
  await withProduct({}, async (dev) => {
    for (const pid of Object.values(dev.pids)) pin(pid, 1);
    const pid = dev.pids['management-api'];
    const headers = { 'SVC-API-KEY': dev.adminKey };
    const measured = {
      'without the database': `${dev.managementUrl}/permissions`,
      'by id': `${dev.managementUrl}/reactor-formulas/${await createFormula(dev)}`,
    };
    const peers = [];
    try {
      const targets = [];
      for (const [name, url] of Object.entries(measured)) {
        const document = await (await fetch(url, { headers })).text();
        const bare = await startBareNest(document);
        peers.push(bare.child);
        targets.push({ name, pid, url, headers });
        targets.push({ name: `bare Nest, the same document: ${name}`, ...bare });
      }
      const results = await compare(targets);
      report(results);
      for (const [name, goal] of [
        ['without the database', '≥ 0.9'],
        ['by id', '≥ 0.35'],
      ]) {
        const times = ratio(results, name, `bare Nest, the same document: ${name}`);
        console.log(`GET ${name}: ${times} × bare Nest, goal ${goal}`);
      }
      console.log('target on core 0; load generator, Postgres and Redis on core 1');
    } finally {
      for (const child of peers) child.kill();
    }
  });
}

/** Nest without anything of ours, answering the same bytes. */
async function startBareNest(document) {
  const port = await freePort();
  const peer = fileURLToPath(new URL('./peers/bare-nest.cjs', import.meta.url));
  const child = spawn(process.execPath, [peer, String(port), document], { stdio: 'inherit' });
  const url = `http://127.0.0.1:${port}/answer`;
  while (!(await fetch(url).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error('the peer did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { child, pid: child.pid, url };
}

async function createFormula({ managementUrl, adminKey }) {
  const answer = await fetch(`${managementUrl}/reactor-formulas`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'bench', code: 'module.exports = () => ({})' }),
  });
  return (await answer.json()).id;
}
