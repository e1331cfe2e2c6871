import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isKeyVariable } from '../config';
import { usage } from '../failure';
import { isOwnName, steersPrograms } from '../run/environment';
import { refuseOtherSecrets } from './steps';
import { Secret, YamlFile, type Path } from './yaml-file';
import { readValueFile } from './value-file';

type Environment = Readonly<Record<string, string | undefined>>;
type Json = Readonly<Record<string, unknown>>;

export const projectFile = 'glovebox.yaml';
export const defaultRuntime = 'node24';

/** A file of code, and what runs it. */
export interface CodeFile {
  readonly file: string;
  readonly runtime: string;
}

interface Declared {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
}

interface Resource {
  readonly slug: string;
  readonly yaml: YamlFile;
  /** The members of the file that are sent as they are. */
  readonly members: Json;
  readonly configuration: Readonly<Record<string, Secret>>;
}

export interface ReactorFiles extends Resource {
  readonly kind: 'reactor';
  readonly code: CodeFile;
  readonly declared: readonly Declared[];
}

export interface ProxyFiles extends Resource {
  readonly kind: 'proxy';
  readonly request: CodeFile | undefined;
  readonly response: CodeFile | undefined;
  /** The key of `client_certificate`. */
  readonly privateKey: Secret | undefined;
}

export interface ApplicationFiles extends Resource {
  readonly kind: 'application';
}

export type ResourceFiles = ReactorFiles | ProxyFiles | ApplicationFiles;

/** The folder with glovebox.yaml: this one, or one above. */
export function findProject(cwd: string): string {
  const folder = projectAround(cwd);
  if (folder === undefined) {
    throw usage(
      `There is no ${projectFile} in ${cwd} or above.`,
      '`glovebox init` makes a folder with one.',
    );
  }
  readProjectFile(folder);
  return folder;
}

/** The same where it need not be there. */
export function projectAround(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, projectFile))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** What glovebox.yaml says. */
export interface ProjectFile {
  /** The name of the folder among those that deploy to the tenant. */
  readonly project: string | undefined;
  /** Whose tokens a command of `glovebox run` may use. */
  readonly runsAs: string | undefined;
  /** Variables of that command: expressions in the place of secrets. */
  readonly env: Readonly<Record<string, string>>;
}

export function readProjectFile(root: string): ProjectFile {
  refuseForeign(join(root, projectFile));
  const yaml = YamlFile.read(root, projectFile);
  const members = mapOf(yaml, yaml.value ?? {}, [], ['version', 'project', 'run', 'env']);
  if ((members.version ?? 1) !== 1) {
    throw yaml.failAt(['version'], 'this version of glovebox knows version 1 alone');
  }
  const project = textOf(yaml, members, 'project');
  if (project !== undefined && !isSlug(project)) {
    throw yaml.failAt(['project'], `is made as a slug is: ${slugRule}`);
  }
  const { application } = mapOf(yaml, members.run ?? {}, ['run'], ['application']);
  if (application !== undefined && typeof application !== 'string') {
    throw yaml.failAt(['run', 'application'], 'must be a text');
  }
  return { project, runsAs: application, env: placeholdersOf(yaml, members.env) };
}

/** A folder above, /tmp say, may be open to users who are not trusted with what others run. */
function refuseForeign(file: string): void {
  const user = process.getuid?.();
  const owner = lstatSync(file, { throwIfNoEntry: false })?.uid ?? user;
  // Windows has no such ids.
  if (user === undefined || owner === user || owner === 0) return;
  throw usage(
    `${file} belongs to another user.`,
    'Make the file your own (chown), or run the command as its owner.',
  );
}

function placeholdersOf(yaml: YamlFile, given: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(mapOf(yaml, given ?? {}, ['env'])).map(([name, value]) => {
    const fail = (why: string) => yaml.failAt(['env', name], why);
    if (!/^[A-Za-z_]\w*$/.test(name)) throw fail(`"${name}" is no name of a variable`);
    if (isOwnName(name)) throw fail('`glovebox run` sets this variable itself');
    if (steersPrograms(name)) throw fail(`"${name}" steers programs: no file of a folder sets it`);
    if (typeof value !== 'string' || !/\{\{.*\}\}/s.test(value)) {
      throw fail('must be a text with an expression: "{{ token_id }}"');
    }
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}

const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const slugRule = '1 to 64 of a to z, 0 to 9 and -, beginning and ending without -';

/** Everything that is deployed from the folder, in a fixed order. */
export function readProject(root: string): ResourceFiles[] {
  return [
    ...filesIn(root, 'applications')
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => readApplication(root, name.slice(0, -'.yaml'.length))),
    ...filesIn(root, 'reactors').map((slug) => readReactor(root, slug)),
    ...filesIn(root, 'proxies').map((slug) => readProxy(root, slug)),
  ];
}

/** The reactor or proxy of this name. */
export function readResource(root: string, slug: string): ReactorFiles | ProxyFiles {
  checkSlug(slug, slug);
  if (existsSync(join(root, 'reactors', slug))) return readReactor(root, slug);
  if (existsSync(join(root, 'proxies', slug))) return readProxy(root, slug);
  const there = [...filesIn(root, 'reactors'), ...filesIn(root, 'proxies')];
  throw usage(
    `There is neither reactors/${slug} nor proxies/${slug}.`,
    there.length > 0 ? `There are: ${there.join(', ')}` : undefined,
  );
}

/** Hidden files are those of editors and of the system. */
function filesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder))
    .filter((name) => !name.startsWith('.'))
    .sort();
}

export function readReactor(root: string, slug: string): ReactorFiles {
  const folder = `reactors/${slug}`;
  checkSlug(slug, folder);
  const yaml = YamlFile.read(root, `${folder}/reactor.yaml`);
  const known = ['id', 'name', 'application', 'isolation'];
  const ofFormula = ['formula_name', 'runtime', 'description', 'icon', 'request_parameters'];
  const given = mapOf(yaml, yaml.value, [], [...known, ...ofFormula, 'configuration']);
  const { declared, configuration } = declaredConfiguration(yaml, given.configuration);
  const runtime = textOf(yaml, given, 'runtime') ?? defaultRuntime;
  const file = codeFileOf(root, `${folder}/code`);
  if (file === undefined) throw usage(`${folder}/code.ts is missing.`, 'code.js does as well.');
  const members = without(given, ['configuration', 'runtime']);
  refuseOtherSecrets(yaml, members);
  return {
    kind: 'reactor',
    slug,
    yaml,
    members: { name: slug, ...members },
    configuration,
    declared,
    code: { file, runtime },
  };
}

export function readProxy(root: string, slug: string): ProxyFiles {
  const folder = `proxies/${slug}`;
  checkSlug(slug, folder);
  const yaml = YamlFile.read(root, `${folder}/proxy.yaml`);
  const given = mapOf(
    yaml,
    yaml.value,
    [],
    [
      ...[
        'id',
        'name',
        'destination_url',
        'require_auth',
        'allowed_origins',
        'match',
        'forward_to',
        'detokenize',
        'scrub',
        'isolation',
      ],
      ...['request_transform', 'response_transform', 'request_transforms', 'response_transforms'],
      ...[
        'application',
        'configuration',
        'timeout_ms',
        'client_certificate',
        'certificate_authority',
      ],
    ],
  );
  const configuration = secretsOf(yaml, given.configuration, ['configuration']);
  const { request_transform, response_transform, client_certificate, ...others } = without(given, [
    'configuration',
  ]);
  const certificate = client_certificate as Json | undefined;
  if (certificate !== undefined) {
    mapOf(yaml, certificate, ['client_certificate'], ['certificate', 'private_key']);
  }
  const privateKey = certificate?.private_key;
  if (privateKey !== undefined && !(privateKey instanceof Secret)) {
    throw notInFiles(yaml, ['client_certificate', 'private_key']);
  }
  const open = certificate && { client_certificate: { certificate: certificate.certificate } };
  refuseOtherSecrets(yaml, { ...others, ...open });
  const codeOfSide = (side: 'request' | 'response', settings: unknown): CodeFile | undefined => {
    const path = [`${side}_transform`];
    const file = codeFileOf(root, `${folder}/${side}`);
    const { runtime } = settings === undefined ? {} : mapOf(yaml, settings, path, ['runtime']);
    if (file) return { file, runtime: (runtime as string | undefined) ?? defaultRuntime };
    if (settings === undefined) return undefined;
    throw yaml.failAt(path, `there is no ${folder}/${side}.ts`);
  };
  return {
    kind: 'proxy',
    slug,
    yaml,
    members: {
      name: slug,
      ...others,
      ...open,
    },
    configuration,
    request: codeOfSide('request', request_transform),
    response: codeOfSide('response', response_transform),
    privateKey,
  };
}

function readApplication(root: string, slug: string): ApplicationFiles {
  const name = `applications/${slug}.yaml`;
  checkSlug(slug, name);
  const yaml = YamlFile.read(root, name);
  const known = ['id', 'name', 'type', 'permissions', 'rules', 'expires_at', 'allowed_origins'];
  const given = mapOf(yaml, yaml.value, [], known);
  refuseOtherSecrets(yaml, given);
  return { kind: 'application', slug, yaml, members: { name: slug, ...given }, configuration: {} };
}

export const isSlug = (name: string): boolean => slugForm.test(name);

function checkSlug(slug: string, file: string): void {
  if (isSlug(slug)) return;
  throw usage(`${file}: "${slug}" is no slug.`, `A slug is ${slugRule}.`);
}

const slugMax = 64;

/** A slug made of a name for people, with room for an end of five characters. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, slugMax - 5)
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'unnamed' : plain;
}

/** code.ts is bundled. code.js is sent as it is. */
function codeFileOf(root: string, base: string): string | undefined {
  const found = ['.ts', '.js']
    .map((end) => base + end)
    .filter((file) => existsSync(join(root, file)));
  if (found.length > 1) throw usage(`There are both ${found.join(' and ')}: which one is it?`);
  return found[0];
}

/** `NAME: !env NAME` declares a text; a map says more of it. */
function declaredConfiguration(
  yaml: YamlFile,
  given: unknown,
): { declared: Declared[]; configuration: Record<string, Secret> } {
  const declared: Declared[] = [];
  const configuration: Record<string, Secret> = {};
  for (const [name, entry] of Object.entries(mapOf(yaml, given ?? {}, ['configuration']))) {
    const path = ['configuration', name];
    const isShort = entry instanceof Secret || typeof entry !== 'object' || entry === null;
    const said: Json = isShort
      ? { value: entry }
      : mapOf(yaml, entry, path, ['value', 'type', 'description']);
    if (!(said.value instanceof Secret)) throw notInFiles(yaml, path);
    configuration[name] = said.value;
    const { type = 'string', description } = said;
    declared.push({
      name,
      type,
      ...(description === undefined ? {} : { description }),
    } as Declared);
  }
  return { declared, configuration };
}

function secretsOf(yaml: YamlFile, given: unknown, path: Path): Record<string, Secret> {
  const entries = Object.entries(mapOf(yaml, given ?? {}, path)).map(([name, value]) => {
    if (!(value instanceof Secret)) throw notInFiles(yaml, [...path, name]);
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}

const notInFiles = (yaml: YamlFile, path: Path) =>
  yaml.failAt(path, 'no value stands in a file: write !env NAME, !file PATH or !keep');

function textOf(yaml: YamlFile, given: Json, name: string): string | undefined {
  const value = given[name];
  if (value === undefined || typeof value === 'string') return value;
  throw yaml.failAt([name], 'must be a text');
}

function mapOf(yaml: YamlFile, value: unknown, path: Path, known?: readonly string[]): Json {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap || value instanceof Secret) throw yaml.failAt(path, 'must be a map of members');
  for (const name of Object.keys(value)) {
    if (known === undefined || known.includes(name)) continue;
    throw yaml.failAt([...path, name], `"${name}" is no member here. Known: ${known.join(', ')}`);
  }
  return value as Json;
}

const without = (members: Json, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

/** The value, or undefined where the stored one stays. */
export function valueOf(
  root: string,
  yaml: YamlFile,
  path: Path,
  secret: Secret,
  env: Environment,
): string | undefined {
  switch (secret.from) {
    case 'keep':
      return undefined;
    case 'env': {
      // Code, and whoever reads what is stored, would have the key of the author.
      if (isKeyVariable(secret.name)) {
        throw yaml.failAt(path, `${secret.name} is for the command line alone: it is sent nowhere`);
      }
      const value = env[secret.name];
      if (value) return value;
      // Pipelines set a secret that they lack to nothing, which would replace the value in force.
      const why = value === '' ? 'empty. If it is to be, say !file with an empty file' : 'not set';
      throw yaml.failAt(path, `the variable ${secret.name} is ${why}`);
    }
    case 'file':
      return readValueFile(root, secret.name, (why) => yaml.failAt(path, why));
  }
}
