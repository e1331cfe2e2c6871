import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Trouble } from '../progress.mjs';
import { definitionKinds } from './copy-definitions.mjs';

const names = /** @type {const} */ ([
  ...['FROM_URL', 'FROM_KEY', 'FROM_TOKEN_KEY'],
  ...['GLOVEBOX_URL', 'GLOVEBOX_KEY', 'GLOVEBOX_PRIVATE_KEY'],
]);
const allKinds = [...definitionKinds, 'tokens'];

const options = /** @type {const} */ ({
  'keys-from-stdin': { type: 'boolean', default: false },
  'tokens-file': { type: 'string' },
  only: { type: 'string' },
  'header-prefix': { type: 'string', default: 'BT' },
  'page-size': { type: 'string', default: '100' },
  'key-reveals': { type: 'boolean', default: false },
  'allow-http': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});

/**
 * What to copy, from where and to where. Keys are never among the arguments, which others on the machine can read.
 *
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
export async function readSettings(args, env) {
  const { values: given } = parsed(args);
  const tokensFile = given['tokens-file'];
  const fromStdin = given['keys-from-stdin'];
  if (fromStdin && tokensFile === '-') {
    throw new Trouble('Standard input has keys or tokens, not both.');
  }
  const lines = fromStdin ? settingsIn(await text(process.stdin)) : {};
  /** @param {string} name */
  const valueOf = (name) => lines[name] || env[name] || undefined;
  const values = {
    ...Object.fromEntries(names.map((name) => [name, valueOf(name)])),
    FROM_URL: urlOf('FROM_URL', valueOf('FROM_URL'), given['allow-http']),
    GLOVEBOX_URL: urlOf(
      'GLOVEBOX_URL',
      valueOf('GLOVEBOX_URL') ?? 'http://127.0.0.1:8080',
      given['allow-http'],
    ),
  };
  const keys = /** @type {Record<string, string | undefined>} */ (values);
  return {
    values: /** @type {typeof values & Record<typeof names[number], string>} */ (values),
    kinds: kindsOf(given.only, keys, tokensFile),
    headerPrefix: given['header-prefix'],
    pageSize: pageSizeOf(given['page-size']),
    keyReveals: given['key-reveals'],
    isJson: given.json,
    tokensFile,
  };
}

/** @param {string[]} args */
function parsed(args) {
  try {
    return parseArgs({ args, options });
  } catch (error) {
    throw new Trouble(`${/** @type {Error} */ (error).message}\nSee npm run copy-from -- --help`);
  }
}

/** @param {string} text */
function settingsIn(text) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^\s*([A-Z_]+)=(.*?)\s*$/.exec(line) ?? [];
    if (names.some((one) => one === name)) found[name] = value;
    // The line may hold a key.
    else if (line.trim() !== '') throw new Trouble(`Standard input: a line is not NAME=VALUE.`);
  }
  return found;
}

/**
 * @param {string} name
 * @param {string | undefined} value
 * @param {boolean} allowHttp
 */
function urlOf(name, value, allowHttp) {
  if (value === undefined) throw new Trouble(`Set ${name}. See npm run copy-from -- --help`);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new Trouble(`${name} is no http or https URL without a user, a query and a fragment.`);
  }
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isHere && !allowHttp) {
    throw new Trouble(
      `${name} is plain http: keys and values would travel in the clear. --allow-http`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/**
 * @param {string | undefined} only
 * @param {Record<string, string | undefined>} values
 * @param {string | undefined} tokensFile
 */
function kindsOf(only, values, tokensFile) {
  const asked = only?.split(',') ?? allKinds;
  const unknown = asked.find((kind) => !allKinds.includes(kind));
  if (unknown !== undefined) {
    throw new Trouble(`--only knows ${allKinds.join(', ')}, and not "${unknown}".`);
  }
  const hasTokens = tokensFile !== undefined || values.FROM_TOKEN_KEY !== undefined;
  const kinds = asked.filter((kind) => kind !== 'tokens' || hasTokens);
  const needed = [
    ...(kinds.some((kind) => kind !== 'tokens') ? ['FROM_KEY', 'GLOVEBOX_KEY'] : []),
    ...(kinds.includes('tokens') ? ['GLOVEBOX_PRIVATE_KEY'] : []),
    ...(only?.includes('tokens') && !hasTokens ? ['FROM_TOKEN_KEY'] : []),
  ];
  const missing = needed.filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new Trouble(`Set ${missing.join(', ')}.`);
  return kinds;
}

/** @param {string} text */
function pageSizeOf(text) {
  const size = Number(text);
  if (Number.isInteger(size) && size >= 1 && size <= 100) return size;
  throw new Trouble('--page-size is a number from 1 to 100.');
}
