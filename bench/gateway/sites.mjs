import { join } from 'node:path';
import { startGateway } from './gateways.mjs';
import { peerNames, startNginx, startPeer } from './peers.mjs';
import { createProxy } from './setting.mjs';

const agent = 'http-proxy + agent';

const unchanged = {
  code: 'module.exports = async ({ args: { headers, body } }) => ({ headers, body });',
  runtime: 'node20',
};
const masking = {
  path: '$.member_1',
  expression: '{{ $.member_1 | reveal_last: 4 }}',
};
const appending = { location: 'header', name: 'X-Bench', value: 'yes' };

/** The members of a proxy besides its destination. */
const proxies = {
  gateway: {},
  'detokenize off': { detokenize: false },
  'code both ways': { request_transform: unchanged, response_transform: unchanged },
  steps: {
    request_transforms: [
      { type: 'append', options: appending },
      { type: 'mask', options: masking },
    ],
    response_transforms: [{ type: 'remove', options: { location: 'header', name: 'X-Bench' } }],
  },
};

/** Gateways of one age that differ in what they record alone. */
const recording = {
  'gateway alone': () => ({}),
  'access log on': ({ folder }) => ({
    env: { ACCESS_LOG: 'true', LOG_LEVEL: 'info' },
    output: join(folder, 'access.log'),
  }),
  'metrics off': () => ({ preload: 'no-metrics.cjs' }),
};

/** Targets and peers by name; each is started when a pair wants it first. Undefined: it cannot run here. */
export function openSites(setting) {
  const started = new Map();
  const gateways = [];
  const start = async (name) => {
    const { upstreamUrl, tlsUpstream, dev } = setting;
    const own = { pid: dev.pids.gateway, url: `${dev.baseUrl}/proxy` };
    const through = async (site, document) => {
      const { headers } = await createProxy(setting, document);
      return { ...site, headers };
    };
    if (name in proxies) return through(own, { destination_url: upstreamUrl, ...proxies[name] });
    if (name in recording) {
      const gateway = await startGateway(setting, recording[name](setting));
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
    of(name) {
      if (!started.has(name)) started.set(name, start(name));
      return started.get(name);
    },
    /** The preload knows what this version counts with. */
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
