// A hostile tenant as a program: node attacks.mjs NAME, with the product in ATTACKED as JSON.
// Prints "attacking" when the attack is under way and goes on until its standard input ends. Then
// it prints the number of answers by status as JSON: {"429": 31, "200": 4}.
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import {
  adminKey,
  agent,
  answered,
  applicationOf,
  attack,
  baseUrl,
  begun,
  call,
  created,
  hangs,
  inParallel,
  note,
  perSecond,
  privateKey,
  proxyTo,
  react,
  reactorOf,
  server,
  takeHostsBelow,
  tokensOf,
  tunnelTo,
} from './attacker.mjs';

/** The program ends by itself after this time. */
const longestMs = 120_000;

/** 1 MiB of JSON that takes thirty times as much memory when it is parsed. */
const thinDocument = () => Array.from({ length: 99_000 }, () => ({}));
const mebibyte = 'x'.repeat(1_000_000);

/** A page of them has 15 MB. The tenant may not have more of them than these. */
async function hundredLargeProxies() {
  const code = `/*${'x'.repeat(49_000)}*/ module.exports = (req) => req`;
  const { text } = await call('GET', '/proxies?size=1&name=large', { key: adminKey });
  let missing = 100 - JSON.parse(text).pagination.total_items;
  const create = async () => {
    while (missing > 0) {
      missing -= 1;
      await created('/proxies', {
        name: 'large',
        destination_url: 'https://example.com',
        request_transform: { code },
        response_transform: { code },
        configuration: { large: mebibyte.slice(0, 60_000) },
      });
    }
  };
  await Promise.all(Array.from({ length: 10 }, create));
}

/** @type {Record<string, () => Promise<void>>} */
const attacks = {
  async 'code that throws a large error over many arguments'() {
    const id = await reactorOf(`
      const { CustomHttpResponseError } = require('@svc/reactor-errors');
      module.exports = () => { throw new CustomHttpResponseError({ status: 400, body: 'abcd'.repeat(250000) }); };
    `);
    const args = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, n) => [`a${n}`, `value ${n}`]),
    );
    await inParallel(4, () => react(id, { args }));
  },

  async 'a hundred tokens of a mebibyte in one request'() {
    const ids = await tokensOf(Array.from({ length: 12 }, thinDocument));
    const body = Array.from({ length: 100 }, (_, n) => `{{${ids[n % ids.length]}}}`);
    const key = await proxyTo(await server((_, res) => res.end()));
    await inParallel(4, async () => {
      await call('POST', '/detokenize', { body });
      await call('POST', '/proxy', { headers: { 'svc-proxy-key': key }, body });
      await call('GET', '/tokens?size=100');
    });
  },

  async 'a run that leaves 150 large calls of its service open'() {
    const application = { id: await applicationOf(['token:create']) };
    const id = await reactorOf(
      `module.exports = async ({ svc }) => {
        const large = 'x'.repeat(1000000);
        await Promise.all(Array.from({ length: 150 }, () => svc.tokenize(large).catch(() => 0)));
        return {};
      };`,
      { application },
    );
    await inParallel(2, () => react(id, {}));
  },

  async 'a run with 200 calls of its service at once'() {
    const application = { id: await applicationOf(['token:create']) };
    const id = await reactorOf(
      `module.exports = async ({ svc }) => {
        await Promise.all(Array.from({ length: 200 }, () => svc.tokenize('small').catch(() => 0)));
        return {};
      };`,
      { application },
    );
    await inParallel(4, () => react(id, {}));
  },

  async 'runs that tokenize 500 values at once, over and over'() {
    const application = { id: await applicationOf(['token:create']) };
    const id = await reactorOf(
      `module.exports = async ({ args, svc }) => {
        const many = Array.from({ length: 500 }, () => ({ type: 'token', data: 'x' }));
        const until = Date.now() + args.ms;
        do {
          await Promise.all(Array.from({ length: 8 }, () => svc.tokenize(many).catch(() => 0)));
        } while (Date.now() < until);
        return {};
      };`,
      { application },
    );
    /** @param {number} ms */
    const run = (ms) => react(id, { args: { ms } });
    // Other attacks start processes.
    await Promise.all([run(1), run(1), run(1), run(1)]);
    await inParallel(4, () => run(5_000));
  },

  async 'maps of many members'() {
    /** @param {number} count */
    const map = (count) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'v']));
    const token = JSON.stringify({ type: 'token', data: 1, metadata: map(60_000) });
    const proxy = JSON.stringify({
      name: 'wide',
      destination_url: 'https://example.com',
      configuration: map(90_000),
    });
    await inParallel(4, async () => {
      await call('POST', '/tokens', { body: token });
      await call('POST', '/proxies', { key: adminKey, body: proxy });
    });
  },

  async 'documents of five million numbers'() {
    const body = `[${'1,'.repeat(5 * 1024 * 1024 - 2)}1]`;
    await inParallel(6, () => call('POST', '/tokenize', { body }));
  },

  async 'definitions of a mebibyte'() {
    const proxy = { name: 'large', destination_url: 'https://example.com' };
    const body = JSON.stringify({ ...proxy, configuration: { large: mebibyte } });
    await inParallel(4, () => call('POST', '/proxies', { key: adminKey, body }));
  },

  async 'pages of large definitions to ten readers'() {
    await hundredLargeProxies();
    await inParallel(10, () => call('GET', '/proxies?size=100', { key: adminKey }));
  },

  async 'pages of large definitions that nobody reads'() {
    await hundredLargeProxies();
    const { hostname, port } = new URL(baseUrl);
    const open = new Set();
    const ask = () => {
      const socket = net.connect(Number(port), hostname).pause();
      open.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => open.delete(socket));
      socket.write(`GET /proxies?size=100 HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${adminKey}\r\n\r\n`);
    };
    for (let n = 0; n < 300; n += 1) {
      ask();
      await delay(10);
    }
    begun();
    while (!attack.isOver) {
      if (open.size < 300) ask();
      await delay(10);
    }
    for (const socket of open) socket.destroy();
  },

  async 'runs that look up names and connect without end'() {
    const id = await reactorOf(`
      const dns = require('dns'), net = require('net');
      module.exports = () => new Promise(() => {
        const storm = () => {
          for (let n = 0; n < 200; n += 1) {
            dns.lookup('localhost', () => undefined);
            net.connect(1, '10.0.0.1').on('error', () => undefined);
          }
          setImmediate(storm);
        };
        storm();
      });
    `);
    await inParallel(8, () => react(id, {}));
  },

  async 'code that leaves connections and loops behind'() {
    const url = await server((req, res) => req.on('error', () => undefined).resume() && res);
    const { port } = new URL(url);
    const id = await reactorOf(`
      const net = require('net');
      module.exports = async ({ args }) => {
        for (let n = 0; n < 10; n += 1) {
          const socket = net.connect(${port}, '127.0.0.1');
          socket.on('error', () => undefined);
          setInterval(() => socket.write('x'.repeat(10000)), 1);
        }
        const spin = () => setImmediate(spin);
        spin();
        return {};
      };
    `);
    await inParallel(4, () => react(id, {}));
  },

  async 'filters that cost as much as they may'() {
    const [id] = await tokensOf(['ab'.repeat(50_000)]);
    const expression = `{{ ${id} ${"| replace: 'a', 'bb' | replace: 'bb', 'a' ".repeat(8)}}}`;
    const key = await proxyTo(await server((req, res) => req.resume() && res.end()));
    const body = { all: Array.from({ length: 60 }, () => expression) };
    await perSecond(10, () => call('POST', '/proxy', { headers: { 'svc-proxy-key': key }, body }));
  },

  async 'bodies with fifty tokens of a megabyte'() {
    const ids = await tokensOf(Array.from({ length: 10 }, () => mebibyte));
    const key = await proxyTo(await server((req, res) => req.resume() && res.end()));
    const body = Array.from({ length: 50 }, (_, n) => `{{${ids[n % ids.length]}}}`);
    const allowed = body.slice(0, 9);
    await perSecond(10, async () => {
      await call('POST', '/proxy', { headers: { 'svc-proxy-key': key }, body });
      await call('POST', '/proxy', { headers: { 'svc-proxy-key': key }, body: allowed });
    });
  },

  async 'searches of many terms'() {
    for (let part = 0; part < 10; part += 1) {
      const some = Array.from({ length: 1_000 }, (_, n) => `value ${part} ${n}`);
      await call('POST', '/tokenize', { body: some });
    }
    /** @param {number} count */
    const terms = (count) =>
      Array.from({ length: count }, (_, n) => `NOT metadata.m${n}:v`).join(' AND ');
    await perSecond(20, async () => {
      await call('POST', '/tokens/search', { body: { query: terms(99) } });
      await call('POST', '/tokens/search', { body: { query: terms(20) } });
    });
  },

  async 'bodies that are never sent to their end'() {
    const id = await reactorOf('module.exports = async () => ({});');
    const key = await proxyTo(await server((req, res) => req.resume() && res.end()));
    const { hostname, port } = new URL(baseUrl);
    const half = Buffer.alloc(500_000, ' ');
    const open = new Set();
    /**
     * @param {string} path
     * @param {string} extra
     */
    const begin = (path, extra) => {
      const socket = net.connect(Number(port), hostname);
      open.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => open.delete(socket));
      socket.once('data', (text) => note(text.toString('latin1').slice(9, 12)));
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${privateKey}\r\n${extra}` +
          'Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n',
      );
      socket.write(half);
    };
    for (let n = 0; n < 750 && !attack.isOver; n += 1) {
      begin(`/reactors/${id}/react`, '');
      begin('/proxy', `SVC-PROXY-KEY: ${key}\r\n`);
      await delay(1);
    }
    begun();
    while (!attack.isOver) await delay(50);
    for (const socket of open) socket.destroy();
  },

  async 'async runs of ten seconds by the hundred'() {
    const id = await reactorOf(
      'module.exports = () => new Promise((done) => setTimeout(() => done({}), 9000));',
    );
    const callback_url = await server((req, res) => req.resume() && res.end());
    await Promise.all(Array.from({ length: 300 }, () => react(id, { callback_url })));
    begun();
    while (!attack.isOver) await delay(50);
  },

  async 'webhooks to receivers that hang, by the hundred'() {
    const id = await reactorOf('module.exports = async () => ({});');
    let arrived = 0;
    const callback_url = await server(() => (arrived += 1));
    await Promise.all(Array.from({ length: 300 }, () => react(id, { callback_url })));
    while (arrived === 0) await delay(20);
    begun();
    while (!attack.isOver) await delay(50);
  },

  async 'a thousand destinations that hang'() {
    const settings = { enable_ephemeral_proxy: 'true' };
    await call('PUT', '/tenants/self', { key: adminKey, body: { name: 'hostile', settings } });
    const waiting = [];
    for (let n = 0; n < 1_000 && !attack.isOver; n += 1) {
      const url = await server(hangs);
      waiting.push(call('GET', '/proxy', { headers: { 'svc-proxy-url': url } }));
    }
    begun();
    while (!attack.isOver) await delay(50);
  },

  async 'tunnels to ever new names, with a handshake and a request in each'() {
    await takeHostsBelow('names.example');
    let names = 0;
    await inParallel(8, async () => {
      const host = `${(names += 1)}.names.example`;
      const socket = await tunnelTo(host);
      if (!socket) return;
      const tunnel = tls.connect({ socket, servername: host, rejectUnauthorized: false });
      tunnel.on('error', () => undefined);
      tunnel.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const [answer] = await Promise.race([once(tunnel, 'data'), once(tunnel, 'close')]);
      note(answer instanceof Buffer ? answer.toString('latin1', 9, 12) : 'closed');
      tunnel.destroy();
    });
  },

  async 'tunnels that stay silent, by the thousand'() {
    await takeHostsBelow('silent.example');
    for (let n = 0; n < 3_000 && !attack.isOver; n += 1) await tunnelTo('a.silent.example');
    begun();
    while (!attack.isOver) await delay(50);
  },

  async 'values whose forms under scrub are many'() {
    const ids = await tokensOf(Array.from({ length: 4 }, (_, n) => `${n}${'é/"+ '.repeat(2_500)}`));
    const echo = await server((req, res) => req.pipe(res));
    const { key } = await created('/proxies', {
      ...{ name: 'attack', destination_url: echo, scrub: true },
    });
    const body = ids.map((id) => `{{ ${id} }}`);
    await inParallel(4, () => call('POST', '/proxy', { headers: { 'svc-proxy-key': key }, body }));
  },

  async 'a proxy that leads back to itself'() {
    const target = { path: '' };
    const { hostname, port } = new URL(baseUrl);
    // A third party's forwarder: it sends each request twice to the product.
    const forwarder = await server((req, res) => {
      req.resume();
      const again = () =>
        new Promise((resolve) => {
          const options = { hostname, port, path: target.path, headers: { ...req.headers } };
          http
            .get({ ...options, agent }, (answer) => answer.resume().on('end', resolve))
            .on('error', resolve);
        });
      void Promise.all([again(), again()]).then(() => res.end());
    });
    const body = { name: 'loop', destination_url: forwarder, require_auth: false };
    const { key } = await created('/proxies', body);
    target.path = `/proxy?svc-proxy-key=${key}`;
    await perSecond(5, () => call('GET', target.path));
  },
};

const begin = attacks[process.argv[2] ?? ''];
if (!begin) throw new Error(`Unknown attack. Known: ${Object.keys(attacks).join('; ')}`);
setTimeout(() => process.exit(1), longestMs).unref();
const running = begin();
await Promise.race([running, once(process.stdin, 'end')]);
process.stdout.write(`${JSON.stringify(answered)}\n`);
process.exit(0);
