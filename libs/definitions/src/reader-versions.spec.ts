import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { permissions } from '@glovebox/access';
import { readerVersion } from '@glovebox/database';
import { runtimes } from '@glovebox/sandbox';
import { unknownVersion, versionNeeded } from './reader-versions';

const golden = join(__dirname, '__fixtures__');
const samples = readdirSync(golden).map((file) => {
  const text = readFileSync(join(golden, file), 'utf8');
  return [file, (JSON.parse(text) as { definition: Json }).definition] as const;
});

type Json = { [name: string]: unknown };
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What customers wrote, and what is passed on as they wrote it. */
const free = new Set(['settings', 'configuration', 'mask', 'metadata', 'value']);

/** Copies of a sample, each with a member more in another of its objects. */
function withOneMore(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((entry, at) =>
      withOneMore(entry).map((changed) =>
        value.map((old: unknown, n) => (n === at ? changed : old)),
      ),
    );
  }
  if (!isObject(value)) return [];
  const deeper = Object.entries(value)
    .filter(([member]) => !free.has(member))
    .flatMap(([member, inner]) =>
      withOneMore(inner).map((changed) => ({ ...value, [member]: changed })),
    );
  return [{ ...value, later: 'unknown' }, ...deeper];
}

const proxy = (changes: Json): Json => ({
  ...samples.find(([file]) => file === 'v1-proxy.json')?.[1],
  ...changes,
});

describe('the version that a definition needs of its reader', () => {
  it.each(samples)('is one that this release has, of the sample %s', (_, definition) => {
    expect(versionNeeded(definition)).toBeLessThanOrEqual(readerVersion);
  });

  it.each(samples)('is unknown with a member more at any place of %s', (_, definition) => {
    const changed = withOneMore(definition);
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.map(versionNeeded)).toEqual(changed.map(() => unknownVersion));
  });

  it('is the same with a member more that is null or an empty list', () => {
    const later = { ...proxy({}), later: null, others: [] };
    expect(versionNeeded(later)).toBe(versionNeeded(proxy({})));
  });

  it('is 2 of all that has steps, TLS material or origins: what was before 0.1.0 skips them', () => {
    expect(versionNeeded(proxy({}))).toBe(1);
    const remove = { type: 'remove', options: { location: 'body', path: '$..cvc' } };
    for (const changes of [
      { requestSteps: [remove] },
      { responseSteps: [remove] },
      { allowedOrigins: ['https://example.com'] },
      { tls: { certificate: null, privateKey: null, authority: 'PEM' } },
    ]) {
      expect(versionNeeded(proxy(changes))).toBe(2);
    }
  });

  it('is 3 of code that is a bundle: what was before would run an empty text', () => {
    const bundle = { code: '', codeHash: 'a', bundleHash: 'a', runtime: 'node20' };
    const formula = samples.find(([file]) => file === 'v3-formula-with-bundle.json')?.[1];
    for (const definition of [formula, proxy({ responseTransform: bundle })]) {
      expect(versionNeeded(definition)).toBe(3);
    }
  });

  it.each<[string, Json]>([
    ['kind of step', proxy({ requestSteps: [{ type: 'scramble', options: {} }] })],
    [
      'place of a step',
      proxy({ requestSteps: [{ type: 'remove', options: { location: 'trailer', name: 'a' } }] }),
    ],
    [
      'type of token',
      proxy({
        requestSteps: [{ type: 'tokenize', options: { path: '$', token: { type: 'iris' } } }],
      }),
    ],
    ['isolation', proxy({ isolation: 'vm' })],
    ['runtime', proxy({ requestTransform: { code: '', codeHash: '', runtime: 'node99' } })],
    ['kind of definition', { ...proxy({}), kind: 'vault' }],
  ])('is unknown with a new %s', (_, definition) => {
    expect(versionNeeded(definition)).toBe(unknownVersion);
  });

  it('is known of each permission and runtime that there is', () => {
    const application = samples.find(([file]) => file === 'v1-application.json')?.[1];
    for (const permission of permissions) {
      const since = permission.startsWith('deployment:') ? 3 : 1;
      expect(versionNeeded({ ...application, permissions: [permission] })).toBe(since);
    }
    for (const runtime of runtimes) {
      const transform = { code: '', codeHash: '', runtime };
      expect(versionNeeded(proxy({ requestTransform: transform }))).toBeLessThanOrEqual(2);
    }
    const rules = [{ ...(application?.rules as Json[])[0], transform: 'half' }];
    expect(versionNeeded({ ...application, rules })).toBe(unknownVersion);
    expect(versionNeeded({ ...application, permissions: ['token:sell'] })).toBe(unknownVersion);
  });

  it('is unknown of what only looks like a name of the table', () => {
    expect(versionNeeded(proxy({ isolation: 'constructor' }))).toBe(unknownVersion);
    expect(versionNeeded({ ...proxy({}), kind: 'toString' })).toBe(unknownVersion);
  });
});
