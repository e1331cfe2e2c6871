import { randomUUID } from 'node:crypto';
import { buildSync } from 'esbuild';
import { codeHash } from '../code/code-texts';
import { useTestApi } from '../spec-api';
import { DataPlane } from './spec-data-plane';

const api = useTestApi();
let data: DataPlane;

beforeAll(() => (data = new DataPlane(api.ctx, api.database.dataUrl)));
afterAll(() => data.close());

const source = `interface Card { readonly number: string }

export const check = (card: Card | undefined): void => {
  if (!card) throw new Error('no card');
};
`;

/** A bundle with its map, and the place in it of a text. */
function bundled() {
  const { outputFiles } = buildSync({
    stdin: { contents: source, loader: 'ts', sourcefile: 'reactors/charge/code.ts' },
    ...{ bundle: true, format: 'cjs', write: false, outfile: 'reactor.js' },
    ...{ sourcemap: 'external', sourcesContent: false, footer: { js: `//${randomUUID()}` } },
  });
  const textOf = (end: string): string =>
    outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  const code = textOf('.js');
  const before = code.slice(0, code.indexOf('new Error')).split('\n');
  const place = { line: before.length, column: (before.at(-1) ?? '').length + 1 };
  return { code, map: textOf('.map'), sha256: codeHash(code), place };
}

async function uploaded({ code, map, sha256 }: ReturnType<typeof bundled>, mapped = map) {
  expect((await api.put(`/code/${sha256}`, { code })).status).toBe(200);
  expect((await api.put(`/code/${sha256}/map`, { map: mapped })).status).toBe(200);
}

/** A run of the bundle that has failed in it. */
async function failedRun({ sha256, place }: ReturnType<typeof bundled>): Promise<unknown> {
  const formula = await api.made('/reactor-formulas', { name: 'f', code_sha256: sha256 });
  const made = { name: 'r', configuration: {}, formula: { id: formula.id } };
  const { id: resourceId } = await api.made('/reactors', made);
  const { line, column } = place;
  const id = await data.run(
    api.tenant.tenant_id,
    {
      ...{ outcome: 'reactor_error', status: 500, message: 'no card', codeHash: sha256 },
      ...{ position: place, stack: [{ function: 'check', ...place }] },
      lines: [{ at: 1, level: 'error', text: `at check (reactor.js:${line}:${column})` }],
    },
    { resourceId },
  );
  const { status, body } = await api.get(`/runs/${id}`);
  expect(status).toBe(200);
  return body;
}

it('a run of a bundle shows places of its source, and its hash in place of the code', async () => {
  const bundle = bundled();
  await uploaded(bundle);
  const inSource = { line: 4, column: 20, source: 'reactors/charge/code.ts' };
  const run = await failedRun(bundle);
  expect(run).toMatchObject({
    ...{ position: inSource, stack: [{ function: 'check', ...inSource }] },
    lines: [{ text: 'at check (reactors/charge/code.ts:4:20)' }],
    ...{ code_sha256: bundle.sha256, code_changed: false },
  });
  expect(run).not.toHaveProperty('code');
});

it('a run whose map cannot be read shows places of the bundle', async () => {
  const bundle = bundled();
  await uploaded(bundle, '{"version":3,"sources":["a.ts"],"mappings":"*"}');
  const { line, column } = bundle.place;
  expect(await failedRun(bundle)).toMatchObject({
    ...{ position: bundle.place, stack: [{ function: 'check', ...bundle.place }] },
    lines: [{ text: `at check (reactor.js:${line}:${column})` }],
  });
});
