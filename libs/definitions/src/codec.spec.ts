import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWithRing, parseKeyRing } from '@glovebox/seal';
import { parseDefinition, sealDefinition, UnknownPayloadVersion } from './codec';

const golden = join(__dirname, '__fixtures__');

describe('a payload of the log', () => {
  it.each(readdirSync(golden))('is still read in an older version: %s', (file) => {
    const text = readFileSync(join(golden, file), 'utf8');
    const { definition } = JSON.parse(text) as { definition: object };
    expect(parseDefinition(text)).toMatchObject(definition);
  });

  it('has no TLS material if its proxy was written before there was any', () => {
    const text = readFileSync(join(golden, 'v1-proxy.json'), 'utf8');
    expect(text).not.toContain('tls');
    expect(parseDefinition(text)).toMatchObject({ tls: null });
  });

  it('has no steps if its proxy was written before there were any', () => {
    const text = readFileSync(join(golden, 'v1-proxy.json'), 'utf8');
    expect(text).not.toContain('Steps');
    expect(parseDefinition(text)).toMatchObject({ requestSteps: [], responseSteps: [] });
  });

  it('has a version that older processes refuse only if a step of its proxy is required', () => {
    const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
    const versionOf = (file: string): unknown => {
      const definition = parseDefinition(readFileSync(join(golden, file), 'utf8'));
      const { kind, id, tenantId } = definition;
      const place = { table: 'definition_log', column: kind, tenantId, record: id };
      const opened = openWithRing(ring, place, sealDefinition(ring, 1, definition));
      return (JSON.parse(opened.toString('utf8')) as { v: unknown }).v;
    };
    expect(versionOf('v1-proxy-with-steps.json')).toBe(1);
    expect(versionOf('v1-application.json')).toBe(1);
    expect(versionOf('v2-proxy-with-required-steps.json')).toBe(2);
  });

  it.each(['v1-application.json', 'v1-proxy.json'])(
    'has no origins if it was written before there were any: %s',
    (file) => {
      const text = readFileSync(join(golden, file), 'utf8');
      expect(text).not.toContain('allowedOrigins');
      expect(parseDefinition(text)).toMatchObject({ allowedOrigins: [] });
    },
  );

  it('is refused in a version that this release does not know', () => {
    expect(() => parseDefinition('{"v":999,"definition":{}}')).toThrow(UnknownPayloadVersion);
  });
});
