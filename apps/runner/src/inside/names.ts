import dns from 'node:dns';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { objectOf } from '@glovebox/sandbox';
import { call } from './channel';
import { systemError } from './system-error';

/**
 * Node's module dns, answered by the runner: `lookup`, and `resolve` for addresses. There are no
 * other records, because a sandbox needs names only to connect to them.
 */
export function routeNamesThroughChannel(): void {
  const own = { lookup, lookupService: notImplemented('getnameinfo'), ...resolvers };
  replace(dns, own);
  replace(dns.Resolver.prototype, resolvers);
  const promised = Object.fromEntries(
    Object.entries(own).map(([name, method]) => [name, promisify(method as Callbacked)]),
  );
  replace(dns.promises, promised);
  const { lookup: _, lookupService: __, ...promisedResolvers } = promised;
  replace(dns.promises.Resolver.prototype, promisedResolvers);
}

/** Replaces only the methods that this version of Node has. */
function replace(target: object, methods: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(methods)) {
    if (name in target) Object.defineProperty(target, name, { ...replaceable, value });
  }
}

const replaceable = { configurable: true, enumerable: true, writable: true };

// ---- lookup ----

interface LookupAddress {
  readonly address: string;
  readonly family: number;
}

interface LookupOptions {
  readonly family: 0 | 4 | 6;
  readonly all: boolean;
  readonly sixFirst: boolean;
}

type Callback = (error: Error | null, ...answer: unknown[]) => void;
type Callbacked = (...parameters: unknown[]) => void;

export function lookup(hostname: string, ...rest: unknown[]): void {
  const callback = callbackOf(rest[rest.length - 1]);
  const options = lookupOptions(rest.length > 1 ? rest[0] : undefined);
  lookUp(hostname, options).then(
    (found) => {
      const [first] = found;
      if (options.all) callback(null, found);
      else callback(null, first?.address ?? null, first?.family ?? (options.family || 4));
    },
    (error: Error) => callback(error),
  );
}

Object.defineProperty(lookup, promisify.custom, {
  value: async (hostname: string, given?: unknown): Promise<unknown> => {
    const options = lookupOptions(given);
    const found = await lookUp(hostname, options);
    if (options.all) return found;
    return found[0] ?? { address: null, family: options.family || 4 };
  },
});

async function lookUp(
  hostname: unknown,
  { family, sixFirst }: LookupOptions,
): Promise<LookupAddress[]> {
  if (hostname === undefined || hostname === null || hostname === '') return [];
  const host = checkedName(hostname);
  const literal = isIP(host);
  if (literal !== 0) return [{ address: host, family: literal }];
  try {
    const found = (await addressesOf(host)).filter((entry) => !family || entry.family === family);
    if (found.length === 0) throw systemError('ENOTFOUND', 'getaddrinfo');
    return sixFirst ? found.sort((one, other) => other.family - one.family) : found;
  } catch (error) {
    throw failed('getaddrinfo', codeOf(error), host);
  }
}

function lookupOptions(given: unknown): LookupOptions {
  const options = (typeof given === 'number' ? { family: given } : (given ?? {})) as {
    readonly [name in 'family' | 'all' | 'order']?: unknown;
  };
  const family = families.get(options.family);
  if (family === undefined) {
    throw wrongArgument(`The property 'options.family' must be one of: 0, 4, 6`, 'VALUE');
  }
  return { family, all: options.all === true, sixFirst: options.order === 'ipv6first' };
}

const families = new Map<unknown, 0 | 4 | 6>([
  [undefined, 0],
  [0, 0],
  [4, 4],
  ['IPv4', 4],
  [6, 6],
  ['IPv6', 6],
]);

// ---- resolve ----

const otherRecords = 'Any Caa Cname Mx Naptr Ns Ptr Soa Srv Tlsa Txt'.split(' ');

const resolvers: Readonly<Record<string, Callbacked>> = {
  resolve4: (host, ...rest) => resolveFamily(4, host, rest),
  resolve6: (host, ...rest) => resolveFamily(6, host, rest),
  resolve: (host, ...rest) => {
    const type = typeof rest[0] === 'string' ? rest[0] : 'A';
    if (type === 'A' || type === 'AAAA') {
      return resolveFamily(type === 'A' ? 4 : 6, host, rest.slice(-1));
    }
    if (!otherRecords.some((name) => name.toUpperCase() === type)) {
      throw wrongArgument(`The argument 'rrtype' is invalid. Received '${type}'`, 'VALUE');
    }
    notImplemented(`query${capitalised(type)}`)(host, ...rest);
  },
  reverse: notImplemented('getHostByAddr'),
  ...Object.fromEntries(
    otherRecords.map((type) => [`resolve${type}`, notImplemented(`query${type}`)]),
  ),
};

function resolveFamily(family: 4 | 6, hostname: unknown, rest: unknown[]): void {
  const callback = callbackOf(rest[rest.length - 1]);
  const syscall = family === 4 ? 'queryA' : 'queryAaaa';
  const host = checkedName(hostname);
  const withTtl = (rest[0] as { ttl?: unknown } | null)?.ttl === true;
  addressesOf(host).then(
    (all) => {
      const found = all.filter((entry) => entry.family === family).map(({ address }) => address);
      if (found.length === 0) return callback(failed(syscall, 'ENODATA', host));
      // The runner resolves anew for each connection, so nothing may be kept.
      callback(null, withTtl ? found.map((address) => ({ address, ttl: 0 })) : found);
    },
    (error) => {
      const code = codeOf(error) === 'ENOTFOUND' ? 'ENOTFOUND' : 'ESERVFAIL';
      callback(failed(syscall, code, host));
    },
  );
}

function notImplemented(syscall: string): Callbacked {
  return (host, ...rest) => {
    const callback = callbackOf(rest[rest.length - 1]);
    const error = failed(syscall, 'ENOTIMP', String(host));
    process.nextTick(() => callback(error));
  };
}

const capitalised = (type: string): string => type.slice(0, 1) + type.slice(1).toLowerCase();

// ---- what both need ----

const anyRun = 0;

async function addressesOf(host: string): Promise<LookupAddress[]> {
  const answer = objectOf(await call(anyRun, 'egress.lookup', { host }), 'answer');
  return (answer['addresses'] as string[]).map((address) => ({ address, family: isIP(address) }));
}

function failed(syscall: string, code: string, hostname: string): Error {
  const error = systemError(code, syscall);
  error.message += ` ${hostname}`;
  return Object.assign(error, { hostname });
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'EAI_AGAIN';
}

function callbackOf(last: unknown): Callback {
  if (typeof last === 'function') return last as Callback;
  throw wrongArgument('The "callback" argument must be of type function', 'TYPE');
}

function checkedName(hostname: unknown): string {
  if (typeof hostname === 'string') return hostname;
  throw wrongArgument('The "hostname" argument must be of type string', 'TYPE');
}

const wrongArgument = (message: string, kind: 'TYPE' | 'VALUE'): TypeError =>
  Object.assign(new TypeError(message), { code: `ERR_INVALID_ARG_${kind}` });
