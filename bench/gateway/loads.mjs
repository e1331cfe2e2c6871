import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare, ratios, report } from '../lib/compare.mjs';
import { findProgram } from '../lib/programs.mjs';
import { check, notRun } from './checks.mjs';
import { knowsSetting, createProxy, createTokens } from './setting.mjs';
import { startGateway } from './gateways.mjs';
import { startPeers, startUpstream } from './peers.mjs';

const agent = 'http-proxy + agent';
const untouched = 'gateway, detokenize off';
const transforming = 'gateway, code both ways';
const stepping = 'gateway, steps';
const withAgent = (count) => `${agent}, the same bytes: ${count}`;

/**
 * What wrk loads, in the order of the goals. `at` names the targets; a row of `ratios` is goal, target,
 * what it is compared with, bound, and the figure if it is not requests per second of processor time.
 */
const loads = [
  {
    title: 'GET small',
    at: [
      'gateway',
      agent,
      'http-proxy',
      'http-proxy in Nest',
      '@fastify/http-proxy',
      'undici dispatch',
      'nginx',
    ],
    ratios: [
      ['P1', 'gateway', agent, ['≥', 1.8]],
      ['P1', 'gateway', 'http-proxy', ['≥', 4]],
      ['P1', 'gateway', 'http-proxy in Nest', ['≥', 4]],
      ['P1', 'gateway', '@fastify/http-proxy', ['≥', 1.7]],
      ['P3', 'gateway', 'nginx', ['≥', 0.5]],
    ],
  },
  {
    title: 'POST 1 KB',
    body: '1k.json',
    at: ['gateway', untouched, agent, 'undici dispatch', 'nginx'],
    ratios: [
      ['P2', 'gateway', agent, ['≥', 1.6]],
      ['P2', 'gateway', 'undici dispatch', ['≥', 0.95]],
      ['P3', 'gateway', 'nginx', ['≥', 0.5]],
      ['P8', untouched, 'gateway', ['≤', 1.03]],
    ],
  },
  {
    title: 'GET small, one connection: p50',
    connections: 1,
    at: ['gateway', 'nginx'],
    ratios: [['P3', 'gateway', 'nginx', ['≤', 1.2], 'p50']],
  },
  {
    title: 'POST 100 KB',
    body: '100k.json',
    at: ['gateway', untouched, agent, 'nginx'],
    ratios: [
      ['P4', 'gateway', agent, ['≥', 1.2]],
      ['P4', 'gateway', 'nginx', ['≥', 0.5]],
      ['P8', untouched, 'gateway', ['≤', 1.12]],
    ],
  },
  {
    title: '1 MB down',
    path: '/1m',
    at: ['gateway', agent, 'nginx'],
    ratios: [
      ['P5', 'gateway', agent, ['≥', 1]],
      ['P5', 'gateway', 'nginx', ['≥', 0.5]],
    ],
  },
  {
    title: 'POST with tokens',
    at: [1, 10, 100].flatMap((count) => [
      { name: `gateway, tokens: ${count}`, at: 'gateway', body: `${count}-tokens.json` },
      { name: withAgent(count), at: agent, body: `${count}-tokens.json` },
    ]),
    ratios: [
      ['P7', 'gateway, tokens: 1', withAgent(1), ['≥', 1]],
      ['P7', 'gateway, tokens: 10', withAgent(10), ['≥', 0.6]],
      ['P7', 'gateway, tokens: 100', withAgent(100), ['≥', 0.12]],
    ],
  },
  {
    title: 'POST 1 KB, transforms',
    body: '1k.json',
    // As many as there are sandboxes for: what waits for one says nothing of the gateway.
    connections: 2,
    at: ['gateway', transforming, stepping],
    ratios: [
      ['P18', transforming, 'gateway', ['≥', 0.35]],
      ['P18', stepping, 'gateway', ['≥', 0.8]],
    ],
  },
  {
    title: 'GET small, what is recorded',
    extra: recordingGateways,
    at: ['gateway alone', 'access log on', 'metrics off'],
    ratios: [
      ['P9', 'access log on', 'gateway alone', ['≥', 0.85]],
      ['P9', 'gateway alone', 'metrics off', ['≥', 0.95]],
    ],
  },
];

/** Of the loads, those that the wanted goals need. */
export async function measureLoads(setting, wants) {
  const wanted = loads
    .map((load) => ({ ...load, ratios: load.ratios.filter(([goal]) => wants(goal)) }))
    .filter((load) => load.ratios.length > 0);
  if (wanted.length === 0) return { checks: [], results: {} };
  const upstreamUrl = findProgram('wrk') && (await startUpstream(setting));
  if (!upstreamUrl) {
    const why = 'wrk or a C compiler is missing';
    const missing = wanted.flatMap(({ title, ratios: rows }) =>
      rows.map(([goal, target, peer]) => notRun(goal, `${title}: ${target} / ${peer}`, why)),
    );
    return { checks: missing, results: {} };
  }
  const sites = await startSites({ ...setting, upstreamUrl });
  await writeScripts(setting, wanted);
  const all = { checks: [], results: {} };
  for (const load of wanted) await measure(load, { ...setting, sites }, all);
  return all;
}

async function startSites(setting) {
  const { dev, upstreamUrl } = setting;
  const proxy = await createProxy(setting, { destination_url: upstreamUrl });
  const plain = await createProxy(setting, { destination_url: upstreamUrl, detokenize: false });
  const unchanged = {
    code: 'module.exports = async ({ args: { headers, body } }) => ({ headers, body });',
    runtime: 'node20',
  };
  const code = await createProxy(setting, {
    destination_url: upstreamUrl,
    request_transform: unchanged,
    response_transform: unchanged,
  });
  const steps = await createProxy(setting, {
    destination_url: upstreamUrl,
    request_transforms: [
      { type: 'append', options: { location: 'header', name: 'X-Bench', value: 'yes' } },
      {
        type: 'mask',
        options: { path: '$.member_1', expression: '{{ $.member_1 | reveal_last: 4 }}' },
      },
    ],
    response_transforms: [{ type: 'remove', options: { location: 'header', name: 'X-Bench' } }],
  });
  const gateway = { pid: dev.pids.gateway, url: `${dev.baseUrl}/proxy` };
  return {
    ...(await startPeers(setting)),
    gateway: { ...gateway, headers: proxy.headers },
    [untouched]: { ...gateway, headers: plain.headers },
    [transforming]: { ...gateway, headers: code.headers },
    [stepping]: { ...gateway, headers: steps.headers },
  };
}

/** A load that is void must not take the others with it. */
async function measure(load, setting, all) {
  const { title } = load;
  console.log(`\n${title}`);
  const extra = load.extra ? await load.extra(setting) : { sites: {}, end: () => undefined };
  const sites = { ...setting.sites, ...extra.sites };
  try {
    const results = await compare(targetsOf(load, sites, setting), {
      ...setting.timing,
      connections: load.connections ?? 64,
    });
    report(results);
    all.results[title] = Object.fromEntries(results);
    await extra.verify?.();
    for (const row of load.ratios) all.checks.push(checkRow(load, row, results));
  } catch (error) {
    console.error(error.message);
    const rows = load.ratios.map(([goal, target, peer]) =>
      notRun(goal, `${title}: ${target} / ${peer}`, 'the run is void'),
    );
    all.checks.push(...rows);
    process.exitCode = 1;
  } finally {
    await extra.end();
  }
}

function targetsOf(load, sites, { folder }) {
  return load.at
    .map((entry) => (typeof entry === 'string' ? { name: entry, at: entry } : entry))
    .filter(({ at }) => sites[at])
    .map(({ name, at, body = load.body }) => ({
      ...sites[at],
      name,
      url: sites[at].url + (load.path ?? '/small'),
      ...(body ? { script: join(folder, `${body}.lua`) } : {}),
    }));
}

function checkRow({ title }, [goal, target, peer, bound, figure], results) {
  const what = `${title}: ${target} / ${peer}`;
  const missing = [target, peer].find((name) => !results.has(name));
  if (missing) return notRun(goal, what, `there is no "${missing}"`);
  return check(goal, what, ratios(results, target, peer, figure), bound, ' ×');
}

/** wrk sends what a script of Lua tells it to. */
async function writeScripts(setting, wanted) {
  const needsTokens = wanted.some(({ title }) => title === 'POST with tokens');
  const ids = needsTokens ? await createTokens(setting, 100) : [];
  const bodies = {
    '1k.json': padded({ amount: 1 }, 1_024),
    '100k.json': padded({ amount: 1 }, 100 * 1_024),
  };
  for (const count of needsTokens ? [1, 10, 100] : []) {
    const tokens = Object.fromEntries(
      ids.slice(0, count).map((id, at) => [`field_${at}`, `{{ ${id} }}`]),
    );
    bodies[`${count}-tokens.json`] = padded(tokens, 1_024);
  }
  for (const [name, body] of Object.entries(bodies)) {
    const file = join(setting.folder, name);
    writeFileSync(file, body);
    writeFileSync(
      `${file}.lua`,
      `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = io.open("${file}"):read("*a")\n`,
    );
  }
}

/** A document of many small members, brought to a size. */
function padded(document, bytes) {
  const whole = { ...document };
  let length = JSON.stringify(whole).length;
  for (let at = 0; length < bytes; at += 1) {
    const [name, value] = [`member_${at}`, 'text with a { in it'];
    whole[name] = value;
    length += name.length + value.length + '"":"",'.length;
  }
  return JSON.stringify(whole);
}

/** Three gateways of one age that differ in what they record alone. */
async function recordingGateways(setting) {
  const { headers } = setting.sites.gateway;
  const started = { 'gateway alone': await startGateway(setting) };
  if (knowsSetting('ACCESS_LOG')) {
    started['access log on'] = await startGateway(setting, {
      env: { ACCESS_LOG: 'true', LOG_LEVEL: 'info' },
      output: join(setting.folder, 'access.log'),
    });
  }
  const silent = await startGateway(setting, { preload: 'no-metrics.cjs' });
  started['metrics off'] = silent;
  const sites = Object.entries(started).map(([name, { pid, url }]) => [
    name,
    { pid, url: `${url}/proxy`, headers },
  ]);
  return {
    sites: Object.fromEntries(sites),
    async verify() {
      const page = await (await fetch(`${silent.opsUrl}/metrics`)).text();
      if (/request_seconds_count\{.*\} [1-9]/.test(page))
        throw new Error('The metrics were not off');
    },
    end: () => Promise.all(Object.values(started).map((gateway) => gateway.end())),
  };
}
