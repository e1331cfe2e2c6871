import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { causeInWords, codes, explain } from './why';

const errors = readFileSync(join(__dirname, '../../../docs/reference/errors.md'), 'utf8');

it('each code of the documented errors is explained in words, with what to do', () => {
  const documented = [...errors.matchAll(/^\| `(\w+)` +\| \d{3}\b/gm)].map(([, code = '']) => code);
  expect(documented.length).toBeGreaterThan(30);
  expect(documented.filter((code) => !codes[code]?.why || !codes[code].todo)).toEqual([]);
});

it('each documented phase of a cause is told in words', () => {
  const table = errors.slice(errors.indexOf('| Phase '), errors.indexOf('Callers without a key'));
  const phases = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, phase = '']) => phase);
  expect(phases.length).toBeGreaterThan(5);
  for (const phase of phases) {
    expect(causeInWords({ phase, reason: 'because' })).not.toContain('in phase');
  }
});

it('a self-signed certificate is told with address, port and what to set', () => {
  const cause = {
    phase: 'tls',
    reason: 'the certificate is self-signed',
    address: '203.0.113.9',
    port: 443,
  };
  const { why, todo } = explain('destination_unreachable', cause);
  expect(why).toContain(
    'TLS handshake with 203.0.113.9, port 443: the certificate is self-signed.',
  );
  expect(todo).toContain('certificate_authority');
});

it('a code that is not known is told all the same', () => {
  expect(explain('from_the_future').todo).toContain('trace id');
});
