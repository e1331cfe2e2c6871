import type { Problem } from '@glovebox/problems';
import { fastest } from '@glovebox/testing';
import { generateApiKey, invalidApiKey, missingProxyKey } from './index';

const told = ({ status, code, detail }: Problem): unknown[] => [status, code, detail];
const send = 'Send the key of an application in the header SVC-API-KEY.';

describe('a request without an API key', () => {
  it.each<[string, string[], string]>([
    ['is told the header', ['Host', 'a'], send],
    [
      'that has Authorization is told that nobody reads it',
      ['Host', 'a', 'authorization', 'Bearer planted'],
      `Authorization is not read. ${send}`,
    ],
    [
      'that has another prefix is told the setting',
      ['Authorization', 'Basic planted', 'Bt-Api-Key', 'planted'],
      `${send} BT-API-KEY is not read: BT is missing in HEADER_PREFIXES, a setting of the operator.`,
    ],
    [
      'that has a common header is told the setting',
      ['x-api-key', 'planted'],
      `${send} X-API-KEY is not read: X is missing in HEADER_PREFIXES, a setting of the operator.`,
    ],
    ['is not told values that look like headers', ['X', 'authorization', 'Y', 'BT-API-KEY'], send],
    ['is not told a name that may be data', ['4242424242424242-API-KEY', 'planted'], send],
    ['is not told long names', [`${'p'.repeat(21)}-API-KEY`, 'planted'], send],
    ['is not told odd names', ['pl.anted_-API-KEY', 'planted', '-API-KEY', 'planted'], send],
  ])('%s', (_, headers, detail) => {
    expect(told(invalidApiKey(undefined, headers))).toEqual([401, 'invalid_api_key', detail]);
  });

  it('costs little to refuse, however long its head is', async () => {
    const headers = Array.from({ length: 512 }, () => `${'A-'.repeat(30)}API-KEY`);
    headers.push('A-'.repeat(32 * 1024), 'planted');
    const refusalsMs = (): number => {
      const begun = performance.now();
      for (let n = 0; n < 100; n += 1) invalidApiKey(undefined, headers);
      return performance.now() - begun;
    };
    expect(await fastest(1_000, refusalsMs)).toBeLessThan(1_000);
  });
});

describe('a request with a wrong API key', () => {
  it('is told one thing of every key that has the form of one', () => {
    const [first, second] = [generateApiKey(), generateApiKey()].map((key) =>
      told(invalidApiKey(key, ['authorization', 'x'])),
    );
    expect(first).toEqual(second);
    expect(first).toEqual([401, 'invalid_api_key', expect.stringMatching(/revoked.*expired/)]);
  });

  it.each([generateApiKey().slice(0, -1), 'planted', ' ', '3f1e9c52-0000-4000-8000-5c3c4f3f7a11'])(
    'is told that it is mistyped, and never what it is: %s',
    (key) => {
      const problem = invalidApiKey(key, []);
      expect(problem.detail).toMatch(/mistyped or cut off/);
      expect(JSON.stringify(problem.body())).not.toContain(key.trim() || 'planted');
    },
  );

  it('is told that it is empty', () => {
    expect(invalidApiKey('', []).detail).toBe('The API key is empty.');
  });
});

it('a call without a proxy key is told the header, and the prefix that is not read', () => {
  expect(missingProxyKey([]).detail).toMatch(/in the header SVC-PROXY-KEY/);
  expect(missingProxyKey(['BT-PROXY-KEY', 'planted']).detail).toMatch(
    /BT is missing in HEADER_PREFIXES, a setting of the operator\.$/,
  );
});
