import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { holderOf } from './port-holder.mjs';
import { Trouble } from './progress.mjs';
import { writePrivate } from './secrets.mjs';

/**
 * @param {number} port
 * @returns {Promise<number>}
 */
function listenOnce(port) {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const { port: chosen } = /** @type {net.AddressInfo} */ (server.address());
      server.close(() => resolve(chosen));
    });
  });
}

/** @param {unknown} error */
const codeOf = (error) => /** @type {NodeJS.ErrnoException} */ (error).code;

/**
 * Below the ports of outgoing connections, one of which could take the port before its server does.
 * Two commands that choose at once choose from other ports: their pids differ by this modulus.
 */
const ownPorts = { from: 15_056, to: 32_000, processes: 64 };
const anyPort = () => {
  const { from, to, processes } = ownPorts;
  return (
    from + processes * randomInt(Math.floor((to - from) / processes)) + (process.pid % processes)
  );
};
/** @type {Set<number>} */
const given = new Set();

/** Returns a free port for a server that starts later. No port is given twice. */
export async function freePort() {
  for (;;) {
    const port = anyPort();
    if (given.has(port)) continue;
    given.add(port);
    try {
      return await listenOnce(port);
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
}

/**
 * Returns the port that the file keeps, so that a service has the same one at each start. While
 * another program has it, any free port serves.
 *
 * @param {string} file
 * @param {string} service
 */
export async function keptPort(file, service) {
  if (!existsSync(file)) writePrivate(file, `${await freePort()}\n`);
  const port = Number(readFileSync(file, 'utf8'));
  given.add(port);
  try {
    return await listenOnce(port);
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    const other = await freePort();
    console.log(
      `  Port ${port} of the ${service} is taken by another program. Until it ends and npm start runs ` +
        `again, the ${service} has port ${other}: what was saved with port ${port} does not reach it.`,
    );
    return other;
  }
}

/**
 * @typedef {{ readonly name: string, readonly variable: string, readonly byDefault?: number }} Listener
 */

/**
 * Returns the port of each listener: that of its variable, else its default. 0 stands for any free
 * port. One refusal names all ports that cannot be had.
 *
 * @param {import('./types.js').Environment} env
 * @param {readonly Listener[]} listeners
 * @returns {Promise<Record<string, number>>} by variable
 */
export async function listenerPorts(env, listeners) {
  const wanted = listeners.map((listener) => ({ ...listener, port: portOf(env, listener) }));
  const fixed = wanted.filter(({ port }) => port !== 0);
  refuseTwice(fixed);
  /** @type {Refused[]} */
  const refused = [];
  for (const listener of fixed) {
    given.add(listener.port);
    const code = await whyNot(listener.port);
    if (code) refused.push({ ...listener, code });
  }
  if (refused.length > 0) throw new Trouble(await explainRefused(refused));
  const chosen = wanted.map(async ({ variable, port }) => [variable, port || (await freePort())]);
  return Object.fromEntries(await Promise.all(chosen));
}

/**
 * @param {import('./types.js').Environment} env
 * @param {Listener} listener
 */
function portOf(env, { variable, byDefault = 0 }) {
  const text = env[variable] || String(byDefault);
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  throw new Trouble(`${variable}=${text} is not a port: give a number from 0 (any free) to 65535.`);
}

/** @param {readonly (Listener & { readonly port: number })[]} fixed */
function refuseTwice(fixed) {
  for (const { port, variable } of fixed) {
    const other = fixed.find((each) => each.port === port && each.variable !== variable);
    if (!other) continue;
    throw new Trouble(
      `${variable} and ${other.variable} are both ${port}. Give each a port of its own; 0 stands for any free one.`,
    );
  }
}

/**
 * @typedef {Listener & { readonly port: number, readonly code: 'EADDRINUSE' | 'EACCES' }} Refused
 */

/**
 * @param {number} port
 * @returns {Promise<Refused['code'] | undefined>}
 */
async function whyNot(port) {
  try {
    await listenOnce(port);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE' || code === 'EACCES') return code;
    throw error;
  }
}

const movedByPort = ['GATEWAY_PORT', 'MANAGEMENT_PORT', 'CONSOLE_PORT', 'FORWARD_PORT'];

/** @param {readonly Refused[]} refused */
async function explainRefused(refused) {
  const lines = refused.map(({ name, port, code }) =>
    code === 'EACCES'
      ? `  ${port} (${name}) may be used by root alone`
      : `  ${port} (${name}) is taken by ${holderOf(port)}`,
  );
  const others = refused.filter(({ variable }) => !movedByPort.includes(variable));
  const advice = [
    ...(others.length < refused.length
      ? [`Take other ports: npm start -- --port ${await freeBase()}`]
      : []),
    ...others.map(({ variable }) => `Leave out ${variable}: any free port is taken then.`),
  ];
  const heading = refused.length === 1 ? 'This port' : 'These ports';
  return [`${heading} cannot be had:`, ...lines, ...advice].join('\n');
}

/** A port that is free, and so are those that --port gives with it. */
async function freeBase() {
  for (let port = 18_080; ; port = anyPort()) {
    const codes = await Promise.all([port, port + 1, port + 4].map(whyNot));
    if (codes.every((code) => code === undefined)) return port;
  }
}
