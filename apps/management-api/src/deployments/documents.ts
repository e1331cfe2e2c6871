import { isDeepStrictEqual } from 'node:util';
import type { Runtime } from '@glovebox/sandbox';
import { toApplicationInput } from '../applications/applications.dto';
import { defaultRuntime } from '../code/code-members';
import { idOfCode } from '../code/code-texts';
import type { CodeMembers } from '../code/stored-code';
import type { Configuration } from '../code/configuration';
import type { Application } from '../entities/application.entity';
import type { Proxy } from '../entities/proxy.entity';
import type { ReactorFormula } from '../entities/reactor-formula.entity';
import type { Reactor } from '../entities/reactor.entity';
import { toProxyInput, type OpenedColumns } from '../proxies/proxies.dto';
import { toFormulaInput } from '../reactor-formulas/reactor-formulas.dto';
import { toReactorInput } from '../reactors/reactors.dto';

/**
 * What is in force of a resource, as an item of a deployment would say it. Two documents that mean the
 * same are equal: what is null, undefined or empty is left out.
 */
export type Document = Readonly<Record<string, unknown>>;

export const documentOfApplication = (row: Application): Document =>
  plain({ slug: row.slug, ...toApplicationInput(row) });

export const documentOfFormula = (row: ReactorFormula): Document => plain(toFormulaInput(row));

export function documentOfReactor(
  row: Reactor,
  configuration: Configuration,
  formula: Document,
): Document {
  const { formula: _, ...members } = toReactorInput(row, configuration);
  return plain({ slug: row.slug, ...members, application_id: row.applicationId, formula });
}

export function documentOfProxy(row: Proxy, opened: OpenedColumns): Document {
  const members = toProxyInput(row, opened);
  const document = plain({ slug: row.slug, ...members, application_id: row.applicationId });
  return mapCode(document, withRuntime);
}

/** Clients that know of no runtimes send none. */
const withRuntime = (place: WithCode): WithCode => ({ runtime: defaultRuntime, ...place });

function plain(members: object): Document {
  const json = JSON.parse(JSON.stringify(members)) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(json).filter(([, value]) => !isNothing(value)));
}

const isNothing = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The members that differ. Those of a formula are named by their path. */
export function differingMembers(one: Document, other: Document): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].flatMap((name) => {
    const [a, b] = [one[name], other[name]];
    if (isDeepStrictEqual(a, b)) return [];
    if (name !== 'formula') return [name];
    return differingMembers((a ?? {}) as Document, (b ?? {}) as Document).map(
      (member) => `formula.${member}`,
    );
  });
}

/** Members whose values nobody is shown, whoever asks. */
const secretMembers = new Set([
  ...['configuration', 'client_certificate', 'request_transforms', 'response_transforms'],
]);

/** The named members, without values that are secret. */
export function shownMembers(document: Document, members: readonly string[]): Document {
  return Object.fromEntries(
    members.flatMap((member) => {
      const [name = '', inner] = member.split('.');
      if (secretMembers.has(name)) return [];
      const value = document[name];
      const shown = inner === undefined ? value : (value as Document | undefined)?.[inner];
      return shown === undefined ? [] : [[member, shown]];
    }),
  );
}

const placesOfCode = ['formula', 'request_transform', 'response_transform'];

interface WithCode extends CodeMembers {
  readonly runtime?: Runtime;
  readonly code_id?: string;
}

/** The document with ids in the place of code, the code, and the hashes of its bundles. */
export function withoutCode(document: Document): {
  stored: Document;
  codes: string[];
  bundles: string[];
} {
  const codes: string[] = [];
  const bundles: string[] = [];
  const stored = mapCode(document, ({ code, ...rest }) => {
    if (rest.code_sha256 !== undefined) bundles.push(rest.code_sha256);
    if (code === undefined) return rest;
    codes.push(code);
    return { ...rest, code_id: idOfCode(code) };
  });
  return { stored, codes, bundles };
}

/** Puts code back in. A bundle is named by its hash. */
export const withCode = (stored: Document, codes: ReadonlyMap<string, string>): Document =>
  mapCode(stored, ({ code_id, ...rest }) =>
    withRuntime(code_id === undefined ? rest : { ...rest, code: codes.get(code_id) ?? '' }),
  );

function mapCode(document: Document, change: (place: WithCode) => WithCode): Document {
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) =>
      placesOfCode.includes(name) ? [name, change(value as WithCode)] : [name, value],
    ),
  );
}
