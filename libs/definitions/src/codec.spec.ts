import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDefinition, UnknownPayloadVersion } from './codec';

const golden = join(__dirname, '__fixtures__');

describe('a payload of the log', () => {
  it.each(readdirSync(golden))('of an older version is still read: %s', (file) => {
    const text = readFileSync(join(golden, file), 'utf8');
    const { definition } = JSON.parse(text) as { definition: object };
    expect(parseDefinition(text)).toMatchObject(definition);
  });

  it('of a proxy that was written before it could have TLS material has none', () => {
    const text = readFileSync(join(golden, 'v1-proxy.json'), 'utf8');
    expect(text).not.toContain('tls');
    expect(parseDefinition(text)).toMatchObject({ tls: null });
  });

  it('of a proxy that was written before there were steps has none', () => {
    const text = readFileSync(join(golden, 'v1-proxy.json'), 'utf8');
    expect(text).not.toContain('Steps');
    expect(parseDefinition(text)).toMatchObject({ requestSteps: [], responseSteps: [] });
  });

  it('of a version from the future is refused, not guessed at', () => {
    expect(() => parseDefinition('{"v":999,"definition":{}}')).toThrow(UnknownPayloadVersion);
  });
});
