import { chownSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthorsFolder } from '../run/spec-lender';
import { itemOf } from './items';
import { findProject, readProjectFile, readResource } from './project';

let folder: AuthorsFolder;
beforeEach(() => (folder = new AuthorsFolder()));
afterEach(() => {
  jest.restoreAllMocks();
  folder.remove();
});

function write(name: string, text: string): void {
  const file = join(folder.path, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

/** What a deployment would send of the proxy. */
const sentOf = async (slug: string, env: Readonly<Record<string, string>>): Promise<unknown> =>
  (await itemOf(folder.path, readResource(folder.path, slug), env)).item;

describe('values of the environment', () => {
  const places = (value: string): readonly (readonly [place: string, text: string])[] => [
    ['3:3', `configuration:\n  KEY: ${value}\n`],
    [
      '3:63',
      `request_transforms:\n  - { type: append, options: { location: header, name: X-Key, value: ${value} } }\n`,
    ],
    ['2:39', `client_certificate: { certificate: c, private_key: ${value} }\n`],
  ];

  it.each(['GLOVEBOX_KEY', 'GLOVEBOX_PRIVATE_KEY', 'GLOVEBOX_WEBHOOK_SECRET'])(
    'are never %s, wherever a file names it',
    async (name) => {
      for (const [place, text] of places(`!env ${name}`)) {
        write('proxies/bank/proxy.yaml', `destination_url: https://bank.example\n${text}`);
        await expect(sentOf('bank', { [name]: 'key_of_ada' })).rejects.toMatchObject({
          exit: 'usage',
          message: expect.stringContaining(`proxies/bank/proxy.yaml:${place}: ${name} is for`),
        });
      }
    },
  );

  it('are not empty, as those of secrets are that a pipeline lacks, and a file may be', async () => {
    const proxy = 'destination_url: https://bank.example\nconfiguration:\n  KEY: ';
    write('proxies/bank/proxy.yaml', `${proxy}!env API_KEY\n`);
    await expect(sentOf('bank', { API_KEY: '' })).rejects.toMatchObject({
      exit: 'usage',
      message:
        'proxies/bank/proxy.yaml:3:3: the variable API_KEY is empty. If it is to be, say !file with an empty file',
    });
    write('proxies/bank/proxy.yaml', `${proxy}!file empty\n`);
    write('empty', '');
    expect(await sentOf('bank', {})).toMatchObject({ configuration: { KEY: '' } });
  });
});

it('a glovebox.yaml of another user is not followed, and one of root is', () => {
  write('glovebox.yaml', 'version: 1\n');
  write('work/file', '');
  const file = join(folder.path, 'glovebox.yaml');
  const below = join(folder.path, 'work');
  const user = jest.spyOn(process, 'getuid');
  const isRoot = lstatSync(file).uid === 0;
  if (isRoot) {
    user.mockReturnValue(12_345);
    expect(findProject(below)).toBe(folder.path);
    chownSync(file, 12_345, 12_345);
  }
  user.mockReturnValue(lstatSync(file).uid);
  expect(findProject(below)).toBe(folder.path);
  user.mockReturnValue(lstatSync(file).uid + 1);
  const refused = expect.objectContaining({
    exit: 'usage',
    message: `${file} belongs to another user.`,
  });
  expect(() => findProject(below)).toThrow(refused);
  expect(() => readProjectFile(folder.path)).toThrow(refused);
});

describe('variables of glovebox.yaml', () => {
  const envOf = (name: string) => {
    write('glovebox.yaml', `env:\n  ${name}: './x.so:{{ token }}'\n`);
    return readProjectFile(folder.path).env;
  };

  it.each([
    ...['PATH', 'Path', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'BASH_ENV', 'ENV'],
    ...['BASH_FUNC_x', 'GIT_SSH_COMMAND', 'PYTHONPATH', 'PERL5OPT', 'RUBYOPT', 'IFS', 'HOME'],
    ...['npm_config_script_shell', 'JAVA_TOOL_OPTIONS', 'LESSOPEN'],
  ])('may not be %s, which steers the programs of a command', (name) => {
    expect(() => envOf(name)).toThrow(`glovebox.yaml:2:3: "${name}" steers programs`);
  });

  it.each(['STRIPE_API_KEY', 'NPM_TOKEN', 'NODE_AUTH_TOKEN', 'DATABASE_URL', 'HOME_KEY', 'LDAP'])(
    'may be %s',
    (name) => expect(envOf(name)).toEqual({ [name]: './x.so:{{ token }}' }),
  );
});
