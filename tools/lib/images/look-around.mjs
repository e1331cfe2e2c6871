// Runs inside each container, by node --input-type=module --eval: says what it may do and what it holds.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const status = readFileSync('/proc/1/status', 'utf8');
/** @param {string} name */
const field = (name) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1];
/** @param {string} folder */
const filesIn = (folder) => readdirSync(folder, { recursive: true }).map(String);

function cannotWrite() {
  try {
    writeFileSync('/app/written', '');
    return false;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EROFS';
  }
}

/** Processes that have ended, and that nobody has asked for. */
function unreaped() {
  const states = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
      } catch {
        return undefined;
      }
    });
  return states.filter((state) => state === 'Z').length;
}

const app = filesIn('/app');
const maps = app.filter((file) => file.endsWith('.map'));
const found = {
  node: process.version,
  uid: Number(field('Uid')),
  init: field('Name'),
  capabilities: field('CapEff'),
  noNewPrivileges: field('NoNewPrivs'),
  seccomp: field('Seccomp'),
  readOnly: cannotWrite(),
  npm: filesIn('/usr/local').some((file) => /(^|\/)(npm|npx|corepack|yarn)$/.test(file)),
  types: app.some((file) => /\.[cm]?ts$/.test(file)),
  sources: maps.some((file) => readFileSync(`/app/${file}`, 'utf8').includes('"sourcesContent"')),
  unreaped: unreaped(),
};
console.log(JSON.stringify(found));
