import type { Sql } from '@glovebox/database';
import type { Definition, RunnableCode } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import type { OfferedNames, Runtime } from '@glovebox/sandbox';
import type { Sealer } from '@glovebox/seal';
import { isJsonObject, type JsonObject } from '@glovebox/wire';
import { touches, type MergePatch } from '../validation/patched-dto';
import { checkCode } from './check-code';
import { codeHash, idOfHash, knownTexts, lockTexts, noteTexts } from './code-texts';

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

/** Notes what a change has put in force, and keeps what it has put out of force. */
export async function noteCode(
  sql: Sql,
  sealer: Sealer,
  tenantId: string,
  definitions: readonly Definition[],
  former: readonly CodeMembers[],
): Promise<void> {
  const idsOf = (hashes: readonly (string | undefined)[]): string[] =>
    hashes.flatMap((hash) => (hash === undefined ? [] : [idOfHash(hash)]));
  await noteTexts(sql, sealer, tenantId, {
    inForce: idsOf(definitions.flatMap(codesIn).map((code) => code?.bundleHash)),
    former: idsOf(former.map((code) => code.code_sha256)),
    formerCodes: former.flatMap(({ code }) => code ?? []),
  });
}

function codesIn(definition: Definition): readonly (RunnableCode | null)[] {
  if (definition.kind === 'formula') return [definition];
  return definition.kind === 'proxy'
    ? [definition.requestTransform, definition.responseTransform]
    : [];
}

export const isSameCode = (one: CodeMembers | null, other: CodeMembers | null): boolean =>
  one?.code === other?.code && one?.code_sha256 === other?.code_sha256;

type Place = readonly [path: string, given: CodeMembers | null];

/**
 * Keeps the bundles from being deleted until the end of the transaction, which notes that they are in force.
 * `places`: the members that have their hashes.
 */
export const holdBundles = (sql: Sql, tenantId: string, places: readonly Place[]): Promise<void> =>
  refuseMissing(places, (ids) => lockTexts(sql, tenantId, ids, 'KEY SHARE'));

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
