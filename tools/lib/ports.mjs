import { randomInt } from 'node:crypto';
import net from 'node:net';
import { Trouble } from './progress.mjs';

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

/** Below those that kernels give to outgoing connections: one of these would take it meanwhile. */
const ownPorts = { from: 15_000, to: 32_000 };
/** @type {Set<number>} */
const given = new Set();

/** A port for a server that starts later. It is not given twice. */
export async function freePort() {
  for (;;) {
    const port = randomInt(ownPorts.from, ownPorts.to);
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
 * The port that the variable names, else the default; 0 stands for any free one.
 *
 * @param {import('./types.js').Environment} env
 * @param {string} variable
 * @param {number} byDefault
 */
export async function choosePort(env, variable, byDefault = 0) {
  const text = env[variable] || String(byDefault);
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Trouble(
      `${variable}=${text} is not a port: give a number from 0 (any free) to 65535.`,
    );
  }
  if (port === 0) return freePort();
  try {
    return await listenOnce(port);
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') {
      throw new Trouble(
        `Port ${port} is taken by another program. End it, or choose another port: ${variable}=${port + 1000} npm start`,
      );
    }
    if (codeOf(error) === 'EACCES') {
      throw new Trouble(`Port ${port} needs more rights. Choose another one: ${variable}=8080`);
    }
    throw error;
  }
}
