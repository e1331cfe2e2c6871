import { Resolver } from 'node:dns';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { familyOf } from '../address-table';

/** The limit for /etc/hosts and /etc/resolv.conf each. The rest of a file is not read. */
const systemFileBytesMax = 1024 * 1024;
const searchDomainsMax = 8;
/** The system's own resolver has the same limit. */
const nameServersMax = 3;
const ndotsMax = 15;
const nameLengthMax = 253;

interface ResolvConf {
  readonly servers: readonly string[];
  readonly search: readonly string[];
  readonly ndots: number;
}

/**
 * The system's knowledge of names beside name servers: /etc/hosts, and the servers to ask for each
 * spelling. Read here because getaddrinfo, which reads it too, waits for name servers on threads,
 * and the whole process has four of them.
 */
export class SystemNames {
  readonly #hosts: FileContent<ReadonlyMap<string, readonly string[]>>;
  readonly #resolvConf: FileContent<ResolvConf>;

  constructor(hostsPath = '/etc/hosts', resolvConfPath = '/etc/resolv.conf') {
    this.#hosts = new FileContent(hostsPath, parseHosts);
    this.#resolvConf = new FileContent(resolvConfPath, parseResolvConf);
  }

  get servers(): readonly string[] {
    return this.#resolvConf.read().servers;
  }

  /** The addresses known without a name server. Empty: a name server must be asked. */
  addressesOf(name: string): readonly string[] {
    const bare = withoutDot(name);
    const listed = this.#hosts.read().get(bare);
    if (listed) return listed;
    return namesThisMachine(bare) ? ['127.0.0.1'] : [];
  }

  /** The names to ask for, one after the other. A name with a dot at its end is the only one. */
  spellingsOf(name: string): readonly string[] {
    if (name.endsWith('.')) return [withoutDot(name)];
    const { search, ndots } = this.#resolvConf.read();
    const searched = search
      .map((domain) => `${name}.${domain}`)
      .filter((spelling) => spelling.length <= nameLengthMax);
    const dots = name.split('.').length - 1;
    return dots >= ndots ? [name, ...searched] : [...searched, name];
  }
}

/** True for an address with or without a port. */
export function isNameServer(text: string): boolean {
  try {
    new Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}

export function withoutDot(name: string): string {
  return name.replace(/\.$/, '');
}

/** RFC 6761: such a name is always the loopback address. */
export const namesThisMachine = (name: string): boolean =>
  /(?:^|\.)localhost$/.test(withoutDot(name));

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const [address = '', ...names] of linesOf(text)) {
    if (familyOf(address) === undefined) continue;
    for (const name of names) {
      const lower = name.toLowerCase();
      const known = hosts.get(lower);
      if (known) known.push(address);
      else hosts.set(lower, [address]);
    }
  }
  return hosts;
}

function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let search: string[] = [];
  let ndots = 1;
  for (const [keyword, ...values] of linesOf(text)) {
    if (keyword === 'nameserver') servers.push(...values.slice(0, 1));
    // The last of these lines counts.
    if (keyword === 'search' || keyword === 'domain') search = values;
    if (keyword !== 'options') continue;
    for (const value of values) {
      const [, dots] = /^ndots:(\d+)$/.exec(value) ?? [];
      if (dots !== undefined) ndots = Math.min(Number(dots), ndotsMax);
    }
  }
  return {
    servers: servers.filter(isNameServer).slice(0, nameServersMax),
    search: search.map(withoutDot).filter(Boolean).slice(0, searchDomainsMax),
    ndots,
  };
}

function* linesOf(text: string): Generator<string[]> {
  for (const line of text.split('\n')) {
    const words = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (words[0] !== '') yield words;
  }
}

/** The content of a file, parsed again only when the file has changed. */
class FileContent<Content> {
  #stamp = '';
  #content: Content;

  constructor(
    private readonly path: string,
    private readonly parse: (text: string) => Content,
  ) {
    this.#content = parse('');
  }

  read(): Content {
    let file: number;
    try {
      file = openSync(this.path, 'r');
    } catch {
      return this.parse('');
    }
    try {
      const { mtimeNs, size, ino } = fstatSync(file, { bigint: true });
      const stamp = `${mtimeNs} ${size} ${ino}`;
      if (stamp !== this.#stamp) {
        const bytes = Buffer.alloc(systemFileBytesMax);
        const length = readSync(file, bytes);
        this.#content = this.parse(bytes.toString('utf8', 0, length));
        this.#stamp = stamp;
      }
      return this.#content;
    } catch {
      // Keeps the last content: a fault of the disk must not make one of our names unknown.
      return this.#content;
    } finally {
      closeSync(file);
    }
  }
}
