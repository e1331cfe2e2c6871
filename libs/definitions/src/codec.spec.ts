import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDefinition, UnknownPayloadVersion } from './codec';

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

  it('is refused in a version that this release does not know', () => {
    expect(() => parseDefinition('{"v":999,"definition":{}}')).toThrow(UnknownPayloadVersion);
  });
});
