import { withoutKeys } from '../config';

/** Where requests of the command go, and what it trusts. */
export interface Way {
  readonly forwardUrl: URL;
  readonly key: string;
  readonly authoritiesFile: string;
  /** Glovebox itself is called without a detour. */
  readonly glovebox: URL;
}

const proxyNames = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];
const directNames = ['NO_PROXY', 'no_proxy'];
const authorityNames = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
];
const ownNames = [...proxyNames, ...directNames, ...authorityNames, 'NODE_USE_ENV_PROXY'];

/** Placeholders may not take the place of a name that leads to the proxy. */
export const isOwnName = (name: string): boolean => ownNames.includes(name.toUpperCase());

/** By these a folder would choose what programs load and run. */
const steeringNames = [
  ...[
    'PATH',
    'PATHEXT',
    'COMSPEC',
    'SHELL',
    'SHELLOPTS',
    'BASHOPTS',
    'ENV',
    'IFS',
    'CDPATH',
    'PS4',
  ],
  ...['PROMPT_COMMAND', 'ZDOTDIR', 'HOME', 'USERPROFILE', 'APPDATA', 'EDITOR', 'VISUAL', 'PAGER'],
  ...['BROWSER', 'LESSOPEN', 'LESSCLOSE', 'MANPAGER', 'NODE_OPTIONS', 'NODE_PATH', 'CLASSPATH'],
  ...['NODE_REPL_EXTERNAL_MODULE', 'GCONV_PATH', 'LOCPATH', 'PHPRC', 'PHP_INI_SCAN_DIR', 'WGETRC'],
  ...['CURL_HOME', 'GOFLAGS', 'MAKEFLAGS', 'RUSTC_WRAPPER', 'ALL_PROXY', 'SSL_CERT_DIR'],
];
const steeringBeginnings = [
  ...['LD_', 'DYLD_', 'BASH_', 'GIT_', 'SSH_', 'XDG_', 'NPM_CONFIG_', 'OPENSSL_', 'PYTHON', 'PERL'],
  ...['RUBY', 'LUA_', 'JAVA_', 'JDK_', '_JAVA_', 'DOTNET_', 'CORECLR_', 'COR_'],
];

/** Windows, and some programs, do not tell the cases of names apart. */
export function steersPrograms(name: string): boolean {
  const upper = name.toUpperCase();
  return (
    steeringNames.includes(upper) || steeringBeginnings.some((begin) => upper.startsWith(begin))
  );
}

export function environmentOf(
  way: Way,
  placeholders: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const given = env.NO_PROXY ?? env.no_proxy;
  const hosts = ['localhost', '127.0.0.1', '::1', way.glovebox.hostname];
  const direct = [...(given ? [given] : []), ...new Set(hosts)].join(',');
  const all = (names: readonly string[], value: string) =>
    Object.fromEntries(names.map((name) => [name, value]));
  return {
    ...withoutKeys(env),
    ...placeholders,
    ...all(proxyNames, proxyUrlOf(way)),
    ...all(directNames, direct),
    ...all(authorityNames, way.authoritiesFile),
    // Node reads the variables above from version 24 on.
    NODE_USE_ENV_PROXY: '1',
  };
}

function proxyUrlOf({ forwardUrl, key }: Way): string {
  const url = new URL(forwardUrl);
  url.username = 'glovebox';
  url.password = key;
  return url.href.replace(/\/$/, '');
}
