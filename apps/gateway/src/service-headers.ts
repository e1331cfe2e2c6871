import type { IncomingMessage } from 'node:http';
import { Problem } from '@glovebox/problems';

export type ServiceHeaderName = 'api-key' | 'proxy-key' | 'trace-id';

/** The headers that speak to us, under every prefix that the operator lists. */
export interface ServiceHeaders {
  /** The one value of a service header, or undefined. Said twice, it is refused. */
  read(req: IncomingMessage, name: ServiceHeaderName): string | undefined;
  /** The proxy key of the query, and the query without it. */
  takeProxyKey(query: string): { key: string | undefined; rest: string };
  /** Is this lower-cased header ours? Then no destination sees it. */
  isOurs(lowerName: string): boolean;
}

export function serviceHeaders(prefixes: readonly string[]): ServiceHeaders {
  const lower = prefixes.map((prefix) => prefix.toLowerCase());
  const spellings = (name: ServiceHeaderName): string[] =>
    lower.map((prefix) => `${prefix}-${name}`);
  const known: Record<ServiceHeaderName, readonly string[]> = {
    'api-key': spellings('api-key'),
    'proxy-key': spellings('proxy-key'),
    'trace-id': spellings('trace-id'),
  };
  const ours = lower.map((prefix) => `${prefix}-`);
  const proxyKeyNames = new Set(known['proxy-key']);

  return {
    read(req, name) {
      let value: string | undefined;
      for (const spelling of known[name]) {
        const values = req.headersDistinct[spelling];
        if (!values) continue;
        if (values.length > 1 || value !== undefined) {
          throw new Problem('invalid_request', {
            detail: `The header ${spelling.toUpperCase()} is given more than once.`,
          });
        }
        value = values[0];
      }
      return value;
    },

    takeProxyKey(query) {
      const keys: string[] = [];
      const rest = query.split('&').filter((part) => {
        const [name = '', value = ''] = splitOnce(part, '=');
        if (!proxyKeyNames.has(decoded(name).toLowerCase())) return true;
        keys.push(decoded(value));
        return false;
      });
      if (keys.length > 1) {
        throw new Problem('invalid_request', { detail: 'The proxy key is given more than once.' });
      }
      return { key: keys[0], rest: rest.join('&') };
    },

    isOurs: (lowerName) => ours.some((prefix) => lowerName.startsWith(prefix)),
  };
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
