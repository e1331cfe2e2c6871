import type { Sql } from '@glovebox/database';
import type { RunnableCode } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import type { OfferedNames, Runtime } from '@glovebox/sandbox';
import type { Sealer } from '@glovebox/seal';
import { isJsonObject, type JsonObject } from '@glovebox/wire';
import { touches, type MergePatch } from '../validation/patched-dto';
import { checkCode } from './check-code';
import { codeHash, idOfHash, keepCode, knownTexts, touchTexts } from './code-texts';

/** Code as a body and an answer have it: the text, or the hash of a bundle. */
export interface CodeMembers {
  readonly code?: string;
  readonly code_sha256?: string;
}

/** Either of them. Undefined: the body has neither. */
export function givenCode(
  { code, code_sha256: hash }: CodeMembers,
  path: string,
): CodeMembers | undefined {
  if (code === undefined) return hash === undefined ? undefined : { code_sha256: hash };
  if (hash === undefined || hash === codeHash(code)) return { code };
  throw invalid({ [`${path}code_sha256`]: ['is not the SHA-256 of the code beside it'] });
}

export const requiredCode = (given: CodeMembers, path: string): CodeMembers => {
  const code = givenCode(given, path);
  if (!code) throw invalid({ [`${path}code`]: ['is required'] });
  return code;
};

/** A patch that has one of the members means it in the place of the other. */
export function withoutReplaced<Document extends JsonObject>(
  document: Document,
  patch: MergePatch,
): Document {
  const replaced = { ...document };
  const [hasCode, hasHash] = [touches(patch, 'code'), touches(patch, 'code_sha256')];
  if (hasCode && !hasHash) delete replaced.code_sha256;
  if (hasHash && !hasCode) delete replaced.code;
  return replaced;
}

/** The same for the transforms of a proxy. */
export function withoutReplacedIn<Document extends JsonObject>(
  document: Document,
  patch: MergePatch,
  names: readonly (keyof Document & string)[],
): Document {
  if (!isJsonObject(patch)) return document;
  const changed = names.flatMap((name) => {
    const value: unknown = document[name];
    return isJsonObject(value) ? [[name, withoutReplaced(value, patch[name])]] : [];
  });
  return { ...document, ...Object.fromEntries(changed) };
}

/** As the data plane has it. */
export function toRunnableCode(
  { code = '', code_sha256: hash }: CodeMembers,
  runtime: Runtime,
): RunnableCode {
  if (hash === undefined) return { code, codeHash: codeHash(code), runtime };
  return { code: '', codeHash: hash, bundleHash: hash, runtime };
}

/** Refuses code that can never run. That of a bundle was checked when it was uploaded. */
export function checkGiven({ code }: CodeMembers, path: string, offered: OfferedNames): void {
  if (code !== undefined) checkCode(code, `${path}code`, offered);
}

/** Keeps code that goes out of force, for as long as there may be runs of it. */
export async function keepFormer(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  former: readonly CodeMembers[],
): Promise<void> {
  const bundles = former.flatMap(({ code_sha256: hash }) => (hash ? [idOfHash(hash)] : []));
  await touchTexts(sql, tenantId, bundles, 'now');
  const codes = former.flatMap(({ code }) => code ?? []);
  await keepCode(sql, sealer, tenantId, codes);
}

export const isSameCode = (one: CodeMembers | null, other: CodeMembers | null): boolean =>
  one?.code === other?.code && one?.code_sha256 === other?.code_sha256;

type Place = readonly [path: string, given: CodeMembers | null];

/** Holds the bundles from now on: something refers to them. `places`: the members that have their hashes. */
export const holdBundles = (sql: Sql, tenantId: string, places: readonly Place[]): Promise<void> =>
  refuseMissing(places, (ids) => touchTexts(sql, tenantId, ids, 'infinity'));

export const requireBundles = (
  sql: Sql,
  tenantId: string,
  places: readonly Place[],
): Promise<void> => refuseMissing(places, (ids) => knownTexts(sql, tenantId, ids));

async function refuseMissing(
  places: readonly Place[],
  find: (ids: readonly string[]) => Promise<string[]>,
): Promise<void> {
  const named = places.flatMap(([path, given]) =>
    given?.code_sha256 === undefined ? [] : [[path, idOfHash(given.code_sha256)] as const],
  );
  const known = new Set(await find(named.map(([, id]) => id)));
  const missing = named.filter(([, id]) => !known.has(id));
  if (missing.length === 0) return;
  const text = 'is that of no text of the tenant: PUT /code/{sha256} takes it';
  throw invalid(Object.fromEntries(missing.map(([path]) => [`${path}code_sha256`, [text]])));
}
