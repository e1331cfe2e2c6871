import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { commandLine } from './processes.mjs';

const nobodyKnown = 'another program';

/**
 * Says which program listens on a port, as far as this user may know. Not its arguments, which may
 * hold secrets.
 *
 * @param {number} port
 */
export function holderOf(port) {
  const sockets = listening(port);
  const pid = read(() => readdirSync('/proc'))?.find(
    (name) => /^\d+$/.test(name) && sockets.some((socket) => hasOpen(name, socket)),
  );
  if (pid === undefined) return nobodyKnown;
  const folder = read(() => readlinkSync(`/proc/${pid}/cwd`));
  if (folder && /dist\/apps\/[a-z-]+\/main\.js/.test(commandLine(Number(pid)))) {
    return `another Glovebox (process ${pid}); npm stop in ${folder} ends it`;
  }
  const name = read(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()) ?? nobodyKnown;
  return `process ${pid} (${name}${folder ? ` in ${folder}` : ''})`;
}

/**
 * @param {number} port
 * @returns {string[]} as links of /proc name them
 */
function listening(port) {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) =>
    (read(() => readFileSync(table, 'utf8')) ?? '').split('\n').flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      return local.endsWith(`:${hex}`) && state === '0A' ? [`socket:[${inode}]`] : [];
    }),
  );
}

/**
 * @param {string} pid
 * @param {string} socket
 */
function hasOpen(pid, socket) {
  const folder = `/proc/${pid}/fd`;
  const files = read(() => readdirSync(folder)) ?? [];
  return files.some((file) => read(() => readlinkSync(`${folder}/${file}`)) === socket);
}

/**
 * Processes end meanwhile, those of other users cannot be looked into, and only Linux has /proc.
 *
 * @template Result
 * @param {() => Result} action
 */
function read(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}
