import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedPackages, type RunOutcome } from '@glovebox/sandbox';
import { specLevels, specRuntimes, startSpecRunner, type SpecRunner } from './spec-runner';

let runner: SpecRunner;
beforeAll(async () => {
  runner = await startSpecRunner();
});
afterAll(() => runner.stop());

/** Code that each shipped package must be able to run without a network. */
const uses: Readonly<Record<string, readonly [code: string, result: unknown]>> = {
  axios: [`axios.getUri({ url: '/a', params: { b: 1 } })`, '/a?b=1'],
  'crypto-js': [
    `pkg.SHA256('abc').toString()`,
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  ],
  'csv-parse': [
    `await new Promise((resolve, reject) => pkg.parse('a,b\\n1,2', { columns: true }, (e, rows) => e ? reject(e) : resolve(rows)))`,
    [{ a: '1', b: '2' }],
  ],
  'csv-parse/sync': [
    `pkg.parse('a,b\\n1,2')`,
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  'fast-xml-parser': [
    `[new pkg.XMLParser().parse('<a><b>1</b></a>'), new pkg.XMLBuilder().build({ a: 2 })]`,
    [{ a: { b: 1 } }, '<a>2</a>'],
  ],
  jose: [
    `await (async () => { const key = new TextEncoder().encode('k'.repeat(32));
      const token = await new pkg.SignJWT({ a: 1 }).setProtectedHeader({ alg: 'HS256' }).sign(key);
      const { privateKey, publicKey } = await pkg.generateKeyPair('ES256');
      const jwe = await new pkg.CompactEncrypt(Buffer.from('secret')).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key);
      const signed = await new pkg.CompactSign(Buffer.from('x')).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
      return [(await pkg.jwtVerify(token, key)).payload, Buffer.from((await pkg.compactDecrypt(jwe, key)).plaintext).toString(),
        Buffer.from((await pkg.compactVerify(signed, publicKey)).payload).toString()]; })()`,
    [{ a: 1 }, 'secret', 'x'],
  ],
  'node-fetch': [
    `[typeof pkg, pkg.default === pkg, new pkg.Headers({ A: '1' }).get('a'), await new pkg.Response('text').text()]`,
    ['function', true, '1', 'text'],
  ],
  'node-forge': [
    `[pkg.md.sha1.create().update('abc').digest().toHex(), pkg.util.encode64(pkg.random.getBytesSync(3)).length]`,
    ['a9993e364706816aba3e25717850c26c9cd0d89d', 4],
  ],
  uuid: [
    `[pkg.validate(pkg.v4()), pkg.v5('hello.example.com', pkg.v5.DNS), pkg.version(pkg.v7())]`,
    [true, 'fdda765f-fc57-5604-a269-52a7df8164ec', 7],
  ],
};

describe.each(specRuntimes)('the packages on %s', (runtime) => {
  it('are tried here one and all', () => {
    expect(Object.keys(uses)).toEqual(shippedPackages);
  });

  it.each(Object.entries(uses))('offer %s', async (name, [expression, result]) => {
    const code = `const pkg = require('${name}'); const axios = pkg;
      module.exports = async () => ({ result: ${expression} })`;
    expect(await runner.run(code, { runtime })).toEqual({ kind: 'returned', value: { result } });
  });

  it('are loaded once per process, and no other reactor sees what code does to one', async () => {
    const code = `const axios = require('axios'); let calls = 0;
      module.exports = ({ args }) => {
        const seen = { same: require('axios') === axios, mark: axios.defaults.mark ?? null, calls: (calls += 1) };
        axios.defaults.mark = args.mark; Object.prototype.polluted = args.mark; require('uuid').v4 = null;
        return seen; }`;
    const once = (mark: string, tenantId: string) =>
      runner.run(code, { runtime, args: { mark }, tenantId });
    const seen = (mark: string | null, calls: number): RunOutcome => ({
      kind: 'returned',
      value: { same: true, mark, calls },
    });
    expect(await once('one', 'a')).toEqual(seen(null, 1));
    expect(await once('two', 'a')).toEqual(seen('one', 2));
    expect(await once('three', 'b')).toEqual(seen(null, 1));
  });

  it.each(['left-pad', 'axios/lib/axios', 'node:axios', './axios', '/etc/passwd'])(
    'do not offer %s, with the same text at the start and later',
    async (name) => {
      const message = `Module '${name}' is not available. Packages that are: ${shippedPackages.join(', ')}. Bundle others into the code: docs/guide/code.md#form.`;
      const atStart = await runner.run(`require('${name}'); module.exports = () => {}`, {
        runtime,
      });
      expect(atStart).toMatchObject({ kind: 'invalid_code', error: { message } });
      const later = await runner.run(`module.exports = () => require('${name}')`, { runtime });
      expect(later).toMatchObject({ kind: 'threw', error: { message, code: 'MODULE_NOT_FOUND' } });
    },
  );
});

it.each(specLevels)('every package can be read at level %i', async (level) => {
  const own = await startSpecRunner({ SANDBOX_LEVEL: String(level) });
  const code = `module.exports = ({ args }) => ({ kinds: args.names.map((name) => typeof require(name)) })`;
  for (const runtime of specRuntimes) {
    const outcome = await own.run(code, { runtime, args: { names: shippedPackages } });
    expect(outcome).toMatchObject({ kind: 'returned' });
  }
  await own.stop();
});

describe('a package of the operator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-packages-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is offered under its name, also a scoped one, and replaces a shipped one', async () => {
    writeFileSync(join(folder, '@acme__sums.js'), 'exports.add = (a, b) => a + b;');
    writeFileSync(join(folder, 'axios.js'), `module.exports = 'of the operator';`);
    const own = await startSpecRunner({
      REACTOR_PACKAGES: '@acme/sums',
      RUNNER_PACKAGES_DIR: folder,
    });
    try {
      const code = `module.exports = () => ({ sum: require('@acme/sums').add(1, 2), axios: require('axios') })`;
      for (const runtime of specRuntimes) {
        expect(await own.run(code, { runtime })).toEqual({
          kind: 'returned',
          value: { sum: 3, axios: 'of the operator' },
        });
      }
    } finally {
      await own.stop();
    }
  });

  it('keeps the runner from starting when it has no file', async () => {
    const starting = startSpecRunner({
      REACTOR_PACKAGES: '@acme/none',
      RUNNER_PACKAGES_DIR: folder,
    });
    await expect(starting).rejects.toThrow(/@acme__none\.js not found in .*glovebox-packages-/);
  });

  it.each(['../secret', '@acme', 'a__b', '/etc/x', 'a/'])(
    'keeps the runner from starting when it is named %s',
    async (name) => {
      const starting = startSpecRunner({ REACTOR_PACKAGES: name, RUNNER_PACKAGES_DIR: folder });
      await expect(starting).rejects.toThrow('is not the name of a package');
    },
  );
});
