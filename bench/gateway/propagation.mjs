import { Agent, get } from 'node:http';
import { check } from '../lib/checks.mjs';
import { percentile } from '../lib/figures.cjs';
import { startGateway } from './gateways.mjs';
import { createProxy } from './setting.mjs';

/**
 * Measures from the answer to a change until each of three gateways serves it, with healthy stores.
 *
 * @param {import('../types.js').Setting} setting
 */
export async function measurePropagation(setting) {
  const { dev, destination, changes } = setting;
  const proxy = await createProxy(setting, { destination_url: destination.url });
  const others = [await startGateway(setting), await startGateway(setting)];
  const agent = new Agent({ keepAlive: true });
  try {
    const urls = [dev.baseUrl, ...others.map(({ url }) => url)].map((url) => `${url}/proxy`);
    const acknowledged = [];
    const inForce = [];
    for (let i = 0; i < changes; i += 1) {
      const sentAt = performance.now();
      await redirect(dev, proxy.id, `${destination.url}/version/${i}`);
      const answeredAt = performance.now();
      acknowledged.push(answeredAt - sentAt);
      const seen = urls.map((url) => firstSeen(url, proxy.headers, agent, `/version/${i}`));
      inForce.push(Math.max(...(await Promise.all(seen))) - answeredAt);
    }
    return rowsOf(acknowledged, inForce);
  } finally {
    agent.destroy();
    await Promise.all(others.map((gateway) => gateway.end()));
  }
}

/**
 * @param {readonly number[]} acknowledged
 * @param {readonly number[]} inForce
 */
function rowsOf(acknowledged, inForce) {
  const late = inForce.filter((ms) => ms > 0).length;
  /**
   * @param {readonly number[]} values
   * @param {number} share
   */
  const at = (values, share) => Math.max(0, percentile(values, share));
  /**
   * @param {string} what
   * @param {number} figure
   * @param {string} unit
   */
  const row = (what, figure, unit) => check('propagation', what, figure, undefined, unit);
  return [
    row('a change and its answer, p50', at(acknowledged, 0.5), ' ms'),
    row('a change and its answer, p99', at(acknowledged, 0.99), ' ms'),
    row('from the answer to in force on three gateways, p50', at(inForce, 0.5), ' ms'),
    row('from the answer to in force on three gateways, p99', at(inForce, 0.99), ' ms'),
    row(`changes of ${inForce.length} that were not in force when answered`, late, ''),
  ];
}

/**
 * @param {import('../../tools/lib/types.js').Dev} dev
 * @param {string} id
 * @param {string} destinationUrl
 */
async function redirect({ managementUrl, adminKey }, id, destinationUrl) {
  const answer = await fetch(`${managementUrl}/proxies/${id}`, {
    method: 'PATCH',
    headers: { 'SVC-API-KEY': adminKey, 'Content-Type': 'application/merge-patch+json' },
    body: JSON.stringify({ destination_url: destinationUrl }),
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`PATCH: ${answer.status}`);
}

/**
 * The time at which the first call began that the new definition served. 0 if that was the first
 * call: the definition may have been in force before it.
 *
 * @param {string} url
 * @param {import('../types.js').Headers} headers
 * @param {Agent} agent
 * @param {string} path
 */
async function firstSeen(url, headers, agent, path) {
  for (let tries = 0; ; tries += 1) {
    const begunAt = performance.now();
    if ((await pathServed(url, headers, agent)) === path) return tries === 0 ? 0 : begunAt;
  }
}

/**
 * @param {string} url
 * @param {import('../types.js').Headers} headers
 * @param {Agent} agent
 */
function pathServed(url, headers, agent) {
  return new Promise((resolve, reject) => {
    const req = get(url, { headers, agent }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part) => (text += part));
      res.once('end', () => resolve(JSON.parse(text).path));
    });
    req.once('error', reject);
  });
}
