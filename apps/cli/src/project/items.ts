import { bundle, type Bundle } from './bundle';
import {
  valueOf,
  type CodeFile,
  type ProxyFiles,
  type ReactorFiles,
  type ResourceFiles,
} from './project';
import { sentSteps, stepsForFile } from './steps';
import { writeYaml, type Secret } from './yaml-file';

type Environment = Readonly<Record<string, string | undefined>>;
type Json = Readonly<Record<string, unknown>>;

export type Kind = 'application' | 'reactor' | 'proxy';

/** A resource as a deployment takes it. Null in `configuration`: the stored value stays. */
export interface Item extends Json {
  readonly kind: Kind;
  readonly slug: string;
  /** Of a resource that has no slug yet. */
  readonly id?: string;
}

export interface LocalItem {
  readonly item: Item;
  readonly files: ResourceFiles;
  /** By the member that has the code. */
  readonly bundles: Readonly<Record<string, Bundle>>;
}

/** What the files say. Without an environment, no value is read. */
export async function itemOf(
  root: string,
  files: ResourceFiles,
  env: Environment | undefined,
): Promise<LocalItem> {
  const { kind, slug } = files;
  switch (kind) {
    case 'application':
      return { files, bundles: {}, item: { kind, slug, ...files.members } };
    case 'reactor':
      return reactorItem(root, files, env);
    case 'proxy':
      return proxyItem(root, files, env);
  }
}

async function reactorItem(
  root: string,
  files: ReactorFiles,
  env: Environment | undefined,
): Promise<LocalItem> {
  const { kind, slug, code, declared, members } = files;
  const { description, icon, request_parameters, formula_name, application, ...others } = members;
  const made = await bundle(root, code);
  const formula = {
    ...{ name: formula_name, description, icon, request_parameters },
    ...{ ...codeOf(made), runtime: code.runtime, configuration: declared },
  };
  const item = {
    ...{ kind, slug, ...others, ...acting(application) },
    formula: Object.fromEntries(Object.entries(formula).filter(([, value]) => value !== undefined)),
    configuration: configurationOf(root, files, env),
  };
  return { files, item, bundles: { 'formula.code': made } };
}

async function proxyItem(
  root: string,
  files: ProxyFiles,
  env: Environment | undefined,
): Promise<LocalItem> {
  const { kind, slug, members, request, response, privateKey, yaml } = files;
  const { application, client_certificate: certificate, ...others } = members;
  const bundles: Record<string, Bundle> = {};
  const transforms: Record<string, unknown> = {};
  const sides: readonly (readonly [string, CodeFile | undefined])[] = [
    ['request_transform', request],
    ['response_transform', response],
  ];
  for (const [member, code] of sides) {
    if (!code) continue;
    const made = await bundle(root, code);
    bundles[`${member}.code`] = made;
    transforms[member] = { ...codeOf(made), runtime: code.runtime };
  }
  const path = ['client_certificate', 'private_key'];
  const key = env && privateKey && valueOf(root, yaml, path, privateKey, env);
  const item = {
    ...{ kind, slug, ...others, ...transforms, ...acting(application) },
    ...sentSteps(others, env && ((at, secret) => valueOf(root, yaml, at, secret, env))),
    ...(certificate === undefined
      ? {}
      : {
          client_certificate: {
            ...(certificate as Json),
            ...(key === undefined ? {} : { private_key: key }),
          },
        }),
    configuration: configurationOf(root, files, env),
  };
  return { files, item, bundles };
}

const codeOf = ({ code, sha256 }: Bundle): Json =>
  sha256 === undefined ? { code } : { code_sha256: sha256 };

/** Stands in a sheet for code that is named by its hash. */
const bundleLine = /^bundle ([0-9a-f]{64})\n$/;

/** The hash of code that a sheet names alone. */
export const hashInSheet = (code: string): string | undefined => bundleLine.exec(code)?.[1];

const codeInSheet = ({ code, code_sha256: hash }: Json): string =>
  hash === undefined ? String(code) : `bundle ${String(hash)}\n`;

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const acting = (application: unknown): Json => {
  if (typeof application !== 'string') return application === undefined ? {} : { application };
  return { application: uuid.test(application) ? { id: application } : { slug: application } };
};

function configurationOf(
  root: string,
  { configuration, yaml }: ReactorFiles | ProxyFiles,
  env: Environment | undefined,
): Record<string, string | null> {
  const entries = Object.entries(configuration).map(([name, secret]) => {
    const path = ['configuration', name];
    return [name, (env && valueOf(root, yaml, path, secret, env)) ?? null] as const;
  });
  return Object.fromEntries(entries);
}

/** The files of a resource: its members, and its code by the names of its files without an end. */
export interface Sheet {
  readonly yaml: Json;
  readonly code: Readonly<Record<string, string>>;
}

const defaults: Json = {
  isolation: 'warm',
  require_auth: true,
  detokenize: true,
  scrub: false,
};

/** Two sheets that mean the same are equal. */
export function sheetOf({ kind, slug: _, id: __, ...item }: Item): Sheet {
  const { formula, request_transform, response_transform, application, configuration, ...members } =
    item as Readonly<Record<string, Json | undefined>>;
  const names =
    configuration && Object.fromEntries(Object.keys(configuration).map((name) => [name, {}]));
  if (kind !== 'reactor') {
    const { private_key: ___, ...certificate } = members.client_certificate ?? {};
    const yaml = plain({
      ...members,
      rules: (members.rules as readonly Json[] | undefined)?.map(withoutEmptyDescription),
      ...(Object.keys(certificate).length > 0 ? { client_certificate: certificate } : {}),
      application: application?.slug ?? application?.id,
      request_transform: request_transform && runtimeOf(request_transform),
      response_transform: response_transform && runtimeOf(response_transform),
    });
    const code = {
      ...(request_transform && { request: codeInSheet(request_transform) }),
      ...(response_transform && { response: codeInSheet(response_transform) }),
    };
    return { yaml: withConfiguration(yaml, names), code };
  }
  const {
    code: _____,
    code_sha256: ______,
    name,
    configuration: declared,
    request_parameters,
    type: ____,
    ...ofFormula
  } = formula ?? {};
  const yaml = plain({
    ...members,
    ...ofFormula,
    application: application?.slug ?? application?.id,
    formula_name: name === item.name ? undefined : name,
    request_parameters: (request_parameters as readonly Json[] | undefined)?.map((parameter) =>
      Object.fromEntries(Object.entries(parameter).filter(([, value]) => value !== false)),
    ),
  });
  const said = (declared as readonly Json[] | undefined)?.map(({ name: of, type, description }) => [
    of,
    plain({ type: type === 'string' ? undefined : type, description }),
  ]);
  return {
    yaml: withConfiguration(yaml, said && Object.fromEntries(said)),
    code: { code: codeInSheet(formula ?? {}) },
  };
}

/** A rule that says none is stored with an empty one. */
const withoutEmptyDescription = ({ description, ...rule }: Json): Json =>
  description ? { description, ...rule } : rule;

/** What is stored without a runtime has the oldest one. A file that says none has a newer one. */
const runtimeOf = ({ runtime = 'node16' }: Json): Json => ({ runtime });

function withConfiguration(yaml: Json, configuration: Json | undefined): Json {
  const isEmpty = configuration === undefined || Object.keys(configuration).length === 0;
  return isEmpty ? yaml : { ...yaml, configuration };
}

function plain(members: Json): Json {
  const isSaid = ([name, value]: readonly [string, unknown]): boolean =>
    value !== undefined &&
    value !== null &&
    value !== defaults[name] &&
    !(typeof value === 'object' && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(members).filter(isSaid));
}

const order = ['formula_name', 'name', 'type', 'runtime', 'description', 'destination_url'];
const rank = (name: string): number =>
  (order.indexOf(name) + 1 || order.length + 1) + (name === 'configuration' ? 1 : 0);

/** How the values are found that no sheet has. */
export interface ValuesOfFile {
  configured(name: string): Secret;
  /** Those of steps, by their places. */
  appended(place: string): unknown;
}

/** The text of a sheet, with the members in a fixed order. */
export function textOfSheet({ yaml }: Sheet, { configured, appended }: ValuesOfFile): string {
  const { configuration = {}, client_certificate: certificate, ...members } = yaml;
  const values = Object.entries(configuration as Json).map(([name, said]) => {
    const isShort = Object.keys(said as Json).length === 0;
    const value = configured(name);
    return [name, isShort ? value : { ...(said as Json), value }];
  });
  const key = configured('client_certificate.private_key');
  const whole = {
    ...members,
    ...stepsForFile(members, appended),
    ...(certificate === undefined
      ? {}
      : { client_certificate: { ...certificate, private_key: key } }),
    ...(values.length > 0 ? { configuration: Object.fromEntries(values) } : {}),
  };
  const sorted = Object.entries(whole).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return writeYaml(Object.fromEntries(sorted));
}
