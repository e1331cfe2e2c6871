import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
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
 */
const ownPorts = { from: 15_000, to: 32_000 };
/** @type {Set<number>} */
const given = new Set();

/** Returns a free port for a server that starts later. No port is given twice. */
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
 * Returns the port of the variable, else the default. 0 stands for any free port.
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
