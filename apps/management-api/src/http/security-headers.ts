import type { ServerResponse } from 'node:http';

/**
 * Answers are data: no browser is to render, frame or guess at them. The page of the documentation
 * brings a policy of its own. TLS ends before us, so only the operator can promise HSTS.
 */
const securityHeaders = Object.entries({
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
  // Answers hold keys and what was sealed.
  'cache-control': 'no-store',
});

export function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of securityHeaders) response.setHeader(name, value);
}
