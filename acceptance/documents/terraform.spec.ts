import { join } from 'node:path';
import { createOwnTenant, type OwnTenant } from '../own-tenant';
import { call, create, runningProduct, scriptEnvironment } from '../product';
import { paste, repository } from './pasting';
import { samplesIn } from './samples';

const product = runningProduct();
const { baseUrl: url } = product;
const samples = samplesIn(join(repository, 'docs', 'terraform.md'));
const [destroying] = samples.filter(({ kind }) => kind === 'sh destroy');
const files = Object.fromEntries(
  samples.filter((sample) => sample !== destroying).map(({ name, text }) => [name, text]),
);

let tenant: OwnTenant;
let key: string;
beforeAll(async () => {
  tenant = await createOwnTenant('plans and applies');
  const may = { name: 'deploys', type: 'management', permissions: ['deployment:create'] };
  key = String((await create(product, '/applications', may, tenant.management_key)).key);
});

/** What Terraform would start, with the values of its variables put in. */
function applied(): string {
  const [, command = ''] = /command\s*=\s*"(.+)"/.exec(files['main.tf'] ?? '') ?? [];
  expect(files['main.tf']).toContain('{ GLOVEBOX_URL = var.glovebox_url }');
  return command.replaceAll('${path.module}', '.');
}

async function run(command: string): Promise<Record<string, unknown>> {
  const environment = { ...scriptEnvironment(), GLOVEBOX_URL: url, GLOVEBOX_KEY: key };
  const [output = ''] = await paste([command], files, environment);
  return JSON.parse(output) as Record<string, unknown>;
}

const changesOf = ({ changes }: Record<string, unknown>): string[] =>
  (changes as { slug: string; change: string }[])
    .map(({ slug, change }) => `${slug} ${change}`)
    .sort();

it('has only samples that a test runs', () => {
  expect(Object.keys(files).sort()).toEqual(
    ['deploy.sh', 'empty.json', 'glovebox.json', 'main.tf'].sort(),
  );
  expect(samples).toHaveLength(5);
});

it('an apply deploys the set, the same set changes nothing, and the empty one takes it away', async () => {
  expect(changesOf(await run(applied()))).toEqual(['bank created', 'checkout created']);
  expect(changesOf(await run(applied()))).toEqual(['bank unchanged', 'checkout unchanged']);
  const found = await call('GET', `${url}/proxies?slug=bank`, { key: tenant.management_key });
  expect(found.body.data).toMatchObject([{ name: 'Bank' }]);
  expect(changesOf(await run(destroying?.text ?? ''))).toEqual(['bank pruned', 'checkout pruned']);
});

it('an apply that is refused fails, and shows why', async () => {
  const refused = `${applied().replace('glovebox.json', 'main.tf')} || echo "ended with $?"`;
  await expect(run(refused)).rejects.toThrow(SyntaxError);
  const environment = { ...scriptEnvironment(), GLOVEBOX_URL: url, GLOVEBOX_KEY: key };
  const [said] = await paste([refused], files, environment);
  expect(said).toMatch(/"status": ?400.*ended with 22/s);
});
