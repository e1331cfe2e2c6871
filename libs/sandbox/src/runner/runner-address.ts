export type RunnerAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number };

const unixForm = /^unix:(\/.+)$/;
const tcpForm = /^tcp:\/\/(\[[0-9a-f:.]+\]|[^:/[\]]+):(\d{1,5})$/i;

/** `unix:/path/of/socket`, or `tcp://host:port` for TLS. */
export function parseRunnerAddress(text: string): RunnerAddress {
  const path = unixForm.exec(text)?.[1];
  if (path !== undefined) return { path };
  const [, host, port] = tcpForm.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) {
    throw new Error('must be unix:/path or tcp://host:port');
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
