import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { PackedCli } from '../command-line/packed';
import { createOwnTenant, type OwnTenant } from '../own-tenant';
import { call, create, runningProduct } from '../product';
import { paste, repository } from './pasting';
import { expectShown, samplesIn, toursOf, type Sample } from './samples';

const product = runningProduct();
const { baseUrl: url } = product;
const pageOf = (name: string): Sample[] => samplesIn(join(repository, 'docs/guide', name));

let cli: PackedCli;
let tenant: OwnTenant;
/** What the reader has set before the first command. */
let environment: Record<string, string>;
beforeEach(async () => {
  cli = new PackedCli();
  tenant = await createOwnTenant('reads the guide');
  environment = {
    ...cli.environment,
    ...{ BASE_URL: url, ADMIN_KEY: tenant.management_key, PRIVATE_KEY: tenant.private_key },
  };
});
afterEach(() => cli.remove());

/** A file that the reader writes, as a command. */
const written = ({ kind, name, text, ...sample }: Sample): Sample =>
  kind.endsWith(' file')
    ? {
        ...{ ...sample, name, kind: 'sh tour' },
        text: `mkdir -p ${dirname(name)} && cat > ${name} <<'END_OF_FILE'\n${text}\nEND_OF_FILE`,
      }
    : { ...sample, kind, name, text };

const kindsOf = (samples: readonly Sample[]): string[] =>
  [...new Set(samples.map(({ kind }) => kind))].sort();

it('first-hour.md: each command works in an empty folder, and answers what the page shows', async () => {
  const samples = pageOf('first-hour.md');
  expect(kindsOf(samples)).toEqual(
    [
      'json output',
      'sh install',
      'sh keys',
      'sh tour',
      'text output',
      'ts file',
      'yaml file',
    ].sort(),
  );
  // The package and the variables are those that the beginning of the page makes.
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  const install = ['npm pack ./dist/apps/cli', `npm install -g ./${cli.archive}`];
  expect(samples[0]?.text.split('\n')).toEqual(install);
  expect(readme).toContain(`\n${samples[1]?.text}\n`);
  const tours = toursOf(samples.slice(2).map(written));
  const blocks = tours.map(({ block }) => block);
  expectShown(await paste(blocks, {}, environment, { glovebox: cli.program }), tours);
}, 120_000);

describe('ci.md', () => {
  const samples = pageOf('ci.md');
  const sampleOf = (kind: string, name = ''): string => {
    const found = samples.find((sample) => sample.kind === kind && sample.name === name);
    if (!found) throw new Error(`no ${kind} ${name}`);
    return found.text;
  };
  const github = () => parse(sampleOf('yaml file', '.github/workflows/glovebox.yml')) as GitHub;
  const gitlab = () => parse(sampleOf('yaml file', '.gitlab-ci.yml')) as GitLab;
  const install = 'npm ci --ignore-scripts';
  const fileOf = (name: string): string => join(cli.cwd, name);

  it('has only samples that a test runs', () => {
    const kinds = ['json file', 'sh rollback', 'sh tour', 'yaml file'];
    expect([kindsOf(samples), samples.length]).toEqual([kinds, 5]);
  });

  it('its jobs test, deploy and roll back, with a key that may deploy and nothing else', async () => {
    const [made = ''] = await paste([sampleOf('sh tour')], {}, environment);
    const { key } = JSON.parse(made) as { key: string };
    expect((await call('GET', `${url}/reactors`, { key })).status).toBe(403);
    const secrets = {
      ...{ GLOVEBOX_URL: url, GLOVEBOX_KEY: key, API_KEY: 'of the job' },
      ...{ GLOVEBOX_TEST_URL: url, GLOVEBOX_TEST_KEY: await testKey() },
    };
    await checkedOut();

    for (const { script, env } of stepsOfGitHub(github(), secrets)) await runJob(script, env);
    const first = deployment();
    expect(first.changes.map(({ slug, change }) => `${slug} ${change}`).sort()).toEqual([
      'echo created',
      'hello created',
    ]);
    expect(await shown()).toMatchObject({
      name: 'Hello',
      configuration: { API_KEY: 'of the job' },
    });

    const file = fileOf('reactors/hello/reactor.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('name: Hello', 'name: Changed'));
    for (const { script, env } of jobsOfGitLab(gitlab(), secrets)) await runJob(script, env);
    expect(await shown()).toMatchObject({ name: 'Changed' });

    await runJob(sampleOf('sh rollback'), { ...secrets, DEPLOYMENT: first.id });
    expect(await shown()).toMatchObject({ name: 'Hello' });
  }, 120_000);

  async function testKey(): Promise<string> {
    const permissions = ['reactor:update', 'proxy:update'];
    const body = { name: 'tests', type: 'management', permissions };
    return String((await create(product, '/applications', body, tenant.management_key)).key);
  }

  /** The folder of the author, with what `npm ci` installs. */
  async function checkedOut(): Promise<void> {
    await cli.succeed(['init']);
    const file = fileOf('reactors/hello/reactor.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `${text}configuration:\n  API_KEY: !env API_KEY\n`);
    mkdirSync(fileOf('vendor'));
    const dependencies = sampleOf('json file', 'package.json');
    expect(JSON.parse(dependencies)).toMatchObject({
      devDependencies: { '@glovebox/cli': `file:vendor/${cli.archive}` },
    });
    writeFileSync(fileOf('package.json'), dependencies);
    symlinkSync(cli.modules, fileOf('node_modules'));
  }

  /** As runners do: a shell that ends with the first command that fails. */
  async function runJob(script: string, env: Record<string, string>): Promise<void> {
    if (script === install) return;
    await promisify(execFile)('bash', ['-e', '-c', script], {
      cwd: cli.cwd,
      env: { ...cli.environment, CI: 'true', ...env },
    });
  }

  function deployment(): { id: string; changes: { slug: string; change: string }[] } {
    return JSON.parse(readFileSync(fileOf('deployment.json'), 'utf8')) as ReturnType<
      typeof deployment
    >;
  }

  async function shown(): Promise<unknown> {
    const { body } = await call('GET', `${url}/reactors?slug=hello`, {
      key: tenant.management_key,
    });
    return (body.data as unknown[])[0];
  }
});

interface Job {
  readonly script: string;
  readonly env: Record<string, string>;
}

interface GitHub {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { run?: string; env?: Record<string, string> }[] }>
  >;
}

/** The steps of all jobs, with secrets and variables put in. */
const stepsOfGitHub = ({ jobs }: GitHub, secrets: Record<string, string>): Job[] =>
  Object.values(jobs)
    .flatMap(({ steps }) => steps)
    .filter(({ run }) => run !== undefined)
    .map(({ run = '', env = {} }) => ({
      script: run,
      env: {
        GITHUB_SHA: 'abc',
        ...filledIn(env, /^\$\{\{ (?:secrets|vars)\.(\w+) \}\}$/, secrets),
      },
    }));

interface GitLab {
  readonly before_script: readonly string[];
  readonly test: GitLabJob;
  readonly deploy: GitLabJob;
}

interface GitLabJob {
  readonly script: readonly string[];
  readonly variables?: Record<string, string>;
}

const jobsOfGitLab = ({ before_script, test, deploy }: GitLab, secrets: Record<string, string>) =>
  [test, deploy].flatMap(({ script, variables = {} }) =>
    [...before_script, ...script].map((line): Job => {
      const own = filledIn(variables, /^\$(\w+)$/, secrets);
      return { script: line, env: { CI_COMMIT_SHA: 'abc', ...secrets, ...own } };
    }),
  );

const filledIn = (
  env: Record<string, string>,
  form: RegExp,
  secrets: Record<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const [, secret] = form.exec(value) ?? [];
      return [name, secret === undefined ? value : (secrets[secret] ?? '')];
    }),
  );
