import { join } from 'node:path';
import { startGateway } from './gateways.mjs';
import { peerNames, startNginx, startPeer } from './peers.mjs';
import { createProxy } from './setting.mjs';

const agent = 'http-proxy + agent';

export const unchanged = {
  code: 'module.exports = async ({ args: { headers, body } }) => ({ headers, body });',
  runtime: 'node20',
};
/** BENCH_BEFORE is the folder of another commit, with its gateway built. */
const other = 'gateway of BENCH_BEFORE';
const masking = {
  path: '$.member_1',
  expression: '{{ $.member_1 | reveal_last: 4 }}',
};
const appending = { location: 'header', name: 'X-Bench', value: 'yes' };

/**
 * The members of a proxy other than its destination.
 *
 * @type {Readonly<Record<string, object>>}
 */
const proxies = {
  gateway: {},
  'detokenize off': { detokenize: false },
  scrub: { scrub: true },
  'code both ways': { request_transform: unchanged, response_transform: unchanged },
  steps: {
    request_transforms: [
      { type: 'append', options: appending },
      { type: 'mask', options: masking },
    ],
    response_transforms: [{ type: 'remove', options: { location: 'header', name: 'X-Bench' } }],
  },
};

/**
 * Gateways of the same age that differ only in what they record.
 *
 * @type {Readonly<Record<string, (setting: import('../types.js').Setting) => Parameters<typeof startGateway>[1]>>}
 */
const recording = {
  'gateway alone': () => ({}),
  'access log on': ({ folder }) => ({
    env: { ACCESS_LOG: 'true', LOG_LEVEL: 'info' },
    output: join(folder, 'access.log'),
  }),
  'metrics off': () => ({ preload: 'no-metrics.cjs' }),
  [other]: () => ({ main: join(process.env.BENCH_BEFORE ?? '', 'dist/apps/gateway/main.js') }),
};

/**
 * Targets and peers by name. Each is started at its first use; undefined where it cannot run.
 *
 * @param {import('../types.js').Setting & { tlsUpstream: import('../types.js').TlsUpstream | undefined }} setting
 */
export function openSites(setting) {
  /** @type {Map<string, Promise<import('../types.js').Site | undefined>>} */
  const started = new Map();
  /** @type {import('../types.js').BenchGateway[]} */
  const gateways = [];
  /**
   * @param {string} name
   * @returns {Promise<import('../types.js').Site | undefined>}
   */
  const start = async (name) => {
    const { upstreamUrl, tlsUpstream, dev } = setting;
    const own = { pid: dev.pids.gateway ?? 0, url: `${dev.baseUrl}/proxy` };
    /**
     * @param {import('../types.js').Site} site
     * @param {object} document
     */
    const through = async (site, document) => {
      const { headers } = await createProxy(setting, document);
      return { ...site, headers };
    };
    if (name in proxies) return through(own, { destination_url: upstreamUrl, ...proxies[name] });
    if (name === other && !process.env.BENCH_BEFORE) return undefined;
    if (name in recording) {
      const gateway = await startGateway(setting, recording[name]?.(setting));
      gateways.push(gateway);
      return through({ ...gateway, url: `${gateway.url}/proxy` }, { destination_url: upstreamUrl });
    }
    if (name === 'nginx') return startNginx(setting);
    if (peerNames.includes(name)) return startPeer(setting, name, upstreamUrl);
    if (!tlsUpstream) return undefined;
    if (name === `${agent} over TLS`) {
      return startPeer(setting, agent, tlsUpstream.url, tlsUpstream.caFile);
    }
    return through(own, {
      destination_url: tlsUpstream.url,
      certificate_authority: tlsUpstream.ca,
    });
  };
  return {
    /** @param {string} name */
    of(name) {
      const site = started.get(name) ?? start(name);
      started.set(name, site);
      return site;
    },
    /** Checks that the preload still matches the metrics of this version. */
    async verify() {
      const silent = await started.get('metrics off');
      if (!silent) return;
      const page = await (await fetch(`${silent.opsUrl}/metrics`)).text();
      if (/request_seconds_count\{.*\} [1-9]/.test(page)) {
        throw new Error('The metrics were not off');
      }
    },
    end: () => Promise.all(gateways.map((gateway) => gateway.end())),
  };
}
