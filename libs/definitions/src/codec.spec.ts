import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readerVersion } from '@glovebox/database';
import { openWithRing, parseKeyRing } from '@glovebox/seal';
import { parseDefinition, sealDefinition, NewerDefinition } from './codec';

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

  it('carries the lowest version of a reader that understands it, and the hashes of its keys', () => {
    const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
    const sealed = (file: string): { v: unknown; recognise: unknown } => {
      const definition = parseDefinition(readFileSync(join(golden, file), 'utf8'));
      const { kind, id, tenantId } = definition;
      const place = { table: 'definition_log', column: kind, tenantId, record: id };
      const opened = openWithRing(ring, place, sealDefinition(ring, 1, definition));
      return JSON.parse(opened.toString('utf8')) as { v: unknown; recognise: unknown };
    };
    expect(sealed('v1-proxy.json')).toMatchObject({ v: 1, recognise: { keys: ['cHJveHk'] } });
    expect(sealed('v1-application.json')).toMatchObject({ v: 1, recognise: { keys: ['aGFzaA'] } });
    expect(sealed('v1-proxy-with-steps.json')).toMatchObject({ v: 2 });
    expect(sealed('v2-proxy-with-required-steps.json')).toMatchObject({ v: 2 });
    expect(sealed('v1-tenant.json')).toMatchObject({ v: 1, recognise: { keys: [] } });
  });

  it('is not written with a member that has no reader version', () => {
    const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
    const definition = parseDefinition(readFileSync(join(golden, 'v1-proxy.json'), 'utf8'));
    const later = { ...definition, later: true };
    expect(() => sealDefinition(ring, 1, later)).toThrow('no reader version');
  });

  it.each(['v1-application.json', 'v1-proxy.json'])(
    'has no origins if it was written before there were any: %s',
    (file) => {
      const text = readFileSync(join(golden, file), 'utf8');
      expect(text).not.toContain('allowedOrigins');
      expect(parseDefinition(text)).toMatchObject({ allowedOrigins: [] });
    },
  );

  it('is refused in a version that this release does not know, and its keys are known', () => {
    const newer = { v: readerVersion + 1, recognise: { keys: ['a', 'b'] }, definition: {} };
    expect(faultOf(newer)).toMatchObject({ keyHashes: ['a', 'b'], needed: readerVersion + 1 });
    expect(faultOf({ v: 999, definition: {} })).toMatchObject({ keyHashes: [], needed: 999 });
  });

  it('is refused where it holds more than its version says', () => {
    const text = readFileSync(join(golden, 'v1-proxy-with-steps.json'), 'utf8');
    const { definition } = JSON.parse(text) as { definition: { requestSteps: object[] } };
    const scramble = { type: 'scramble', options: {} };
    const steps = { ...definition, requestSteps: [...definition.requestSteps, scramble] };
    const payload = { v: 2, recognise: { keys: ['a'] }, definition: steps };
    expect(faultOf(payload)).toMatchObject({ keyHashes: ['a'], needed: null });
  });
});

function faultOf(payload: object): unknown {
  try {
    return parseDefinition(JSON.stringify(payload));
  } catch (error) {
    expect(error).toBeInstanceOf(NewerDefinition);
    return error;
  }
}
