import { isIP } from 'node:net';
import { Trouble } from './progress.mjs';

/**
 * @typedef {{
 *   readonly detach: boolean,
 *   readonly reset: boolean,
 *   readonly port: number | undefined,
 *   readonly allow: readonly string[],
 * }} StartOptions
 */

const flags = ['--detach', '--reset'];
const withValue = ['--port', '--allow'];
const known = [...flags, ...withValue, '--help'];
/** As 8084 comes after 8080. */
const consoleAfter = 4;
const forwardAfter = 5;
const portMax = 65_535 - forwardAfter;
const seeHelp = 'All options: npm start -- --help';

/**
 * Reads the options of npm start. `--allow` may be repeated, and takes a list.
 *
 * @param {readonly string[]} args
 * @param {import('./types.js').Environment} env
 * @returns {StartOptions}
 */
export function startOptions(args, env) {
  refuseWhatNpmTook(args, env);
  /** @type {string[]} */
  const given = [];
  /** @type {string[]} */
  const ports = [];
  /** @type {string[]} */
  const allow = [];
  for (let at = 0; at < args.length; at += 1) {
    const [name = '', ...rest] = (args[at] ?? '').split('=');
    if (flags.includes(name) && rest.length === 0) given.push(name);
    else if (withValue.includes(name)) {
      const value = rest.length > 0 ? rest.join('=') : args[(at += 1)];
      if (!value || value.startsWith('--')) {
        throw new Trouble(`${name} needs a value: npm start -- ${exampleOf(name)}`);
      }
      (name === '--port' ? ports : allow).push(value);
    } else throw new Trouble(unknown(name, rest));
  }
  if (new Set(ports).size > 1) throw new Trouble(`--port is given twice: ${ports.join(' and ')}.`);
  return {
    detach: given.includes('--detach'),
    reset: given.includes('--reset'),
    port: ports[0] === undefined ? undefined : portOf(ports[0]),
    allow: allow.flatMap((list) => addresses(list, '--allow')),
  };
}

/**
 * The environment of the start with the options in it. They win over GATEWAY_PORT, MANAGEMENT_PORT
 * and CONSOLE_PORT, and add to EGRESS_ALLOW.
 *
 * @param {import('./types.js').Environment} env
 * @param {StartOptions} options
 * @returns {import('./types.js').Environment}
 */
export function withOptions(env, { port, allow }) {
  const listed = addresses(env.EGRESS_ALLOW ?? '', 'EGRESS_ALLOW');
  return {
    ...env,
    ...(port === undefined
      ? {}
      : {
          GATEWAY_PORT: String(port),
          MANAGEMENT_PORT: String(port && port + 1),
          CONSOLE_PORT: String(port && port + consoleAfter),
          FORWARD_PORT: String(port && port + forwardAfter),
        }),
    EGRESS_ALLOW: [...new Set([...listed, ...allow])].join(','),
  };
}

/**
 * The options as they are typed.
 *
 * @param {Partial<StartOptions>} options
 */
export const asTyped = ({ detach, port, allow = [] }) =>
  [
    ...(detach ? ['--detach'] : []),
    ...(port === undefined ? [] : [`--port ${port}`]),
    ...(allow.length === 0 ? [] : [`--allow ${allow.join(',')}`]),
  ].join(' ');

/**
 * npm keeps what stands before `--` for itself, and would start without it.
 *
 * @param {readonly string[]} args
 * @param {import('./types.js').Environment} env
 */
function refuseWhatNpmTook(args, env) {
  const taken = [...flags, ...withValue].filter((name) => env[`npm_config_${name.slice(2)}`]);
  if (taken.length === 0) return;
  const [first = ''] = taken;
  throw new Trouble(
    `npm took ${taken.join(', ')} for itself. Put -- before: npm start -- ${[exampleOf(first), ...args.filter((arg) => arg.startsWith('-'))].join(' ')}`,
  );
}

/** @param {string} name */
const exampleOf = (name) =>
  ({ '--port': '--port 18080', '--allow': '--allow 127.0.0.1:3000' })[name] ?? name;

/**
 * @param {string} name
 * @param {readonly string[]} rest
 */
function unknown(name, rest) {
  if (flags.includes(name))
    return `${name} takes no value, but got "${rest.join('=')}". ${seeHelp}`;
  if (!name.startsWith('-')) {
    return `"${name}" belongs to no option. ${seeHelp}`;
  }
  const nearest = known.find((option) => isNear(name, option));
  return `Unknown option ${name}. ${nearest ? `Did you mean ${nearest}? ` : ''}${seeHelp}`;
}

/**
 * True where two texts differ by two letters at most.
 *
 * @param {string} a
 * @param {string} b
 */
function isNear(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return (row[b.length] ?? 3) <= 2;
}

/** @param {string} text */
function portOf(text) {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= portMax) return port;
  throw new Trouble(
    port > portMax && port <= 65_535
      ? `--port ${port} leaves no port for forward mode, which has the fifth after it. The highest is ${portMax}.`
      : `--port ${text} is not a port: give a number from 1 to ${portMax}, or 0 for any free ports.`,
  );
}

/**
 * Checks a list as the apps will, which would start for some seconds before they say so.
 *
 * @param {string} list
 * @param {string} from
 */
export function addresses(list, from) {
  const entries = list.split(',').map((entry) => entry.trim());
  return entries.filter(Boolean).map((entry) => {
    if (isAddress(entry)) return entry;
    throw new Trouble(`${from} ${entry}: ${whatIsWrong(entry)}`);
  });
}

const form = /^(?:([\d.]+)(?:\/(\d{1,2}))?|\[([\da-f:.]+)(?:\/(\d{1,3}))?\]):(\*|\d{1,5})$/i;

/** @param {string} entry */
function isAddress(entry) {
  const [, v4, bits4 = '32', v6, bits6 = '128', port = ''] = form.exec(entry) ?? [];
  if (v4 !== undefined ? isIP(v4) !== 4 : isIP(v6 ?? '') !== 6) return false;
  if (Number(bits4) > 32 || Number(bits6) > 128) return false;
  return port === '*' || (Number(port) >= 1 && Number(port) <= 65535);
}

/** @param {string} entry */
function whatIsWrong(entry) {
  const bare = entry.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '');
  const local = bare.replace(/^localhost(?=:)/, '127.0.0.1');
  if (local !== entry && isAddress(local)) return `write it as ${local}`;
  if (/^\d{1,5}$/.test(entry)) return `a port needs its address: 127.0.0.1:${entry}`;
  if (isIP(entry))
    return `the port is missing: ${isIP(entry) === 6 ? `[${entry}]` : entry}:3000, or :* for any`;
  return 'is not ip:port or cidr:port, such as 127.0.0.1:3000, 10.0.0.0/8:*, [::1]:443. Names are not possible.';
}
