import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDefinition, UnknownPayloadVersion } from './codec';

const golden = join(__dirname, '__fixtures__');

describe('a payload of the log', () => {
  it.each(readdirSync(golden))('of an older version is still read: %s', (file) => {
    const text = readFileSync(join(golden, file), 'utf8');
    const { definition } = JSON.parse(text) as { definition: unknown };
    expect(parseDefinition(text)).toEqual(definition);
  });

  it('of a version from the future is refused, not guessed at', () => {
    expect(() => parseDefinition('{"v":999,"definition":{}}')).toThrow(UnknownPayloadVersion);
  });
});
