import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import { record, type Sql } from '@glovebox/database';
import { invalid, notFound, Problem } from '@glovebox/problems';
import { codePlace } from '@glovebox/runs';
import { offeredNames } from '@glovebox/sandbox';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { checkCode } from './check-code';
import { bundleMax, sha256Pattern } from './code-members';
import { codeHash, idOfHash, readCodes } from './code-texts';
import { readMap, sourcesMax } from './source-places';

/** Bytes of a source map. */
export const mapBytesMax = 2 * 1024 * 1024;

/** Texts of a tenant that were uploaded and that nothing has referred to yet … */
export const unusedTextsMax = 500;
/** … and their bytes, with their maps. */
export const unusedBytesMax = 64 * 1024 * 1024;
/** Bytes of all texts that a tenant has uploaded, with their maps. */
export const uploadedBytesMax = 256 * 1024 * 1024;

export interface UploadedCode {
  sha256: string;
  /** It stays at least so long without a resource that names it. */
  held_until: string;
}

/** Texts of code that are too large for definitions (docs/adr/0115). */
@Injectable()
export class BundlesService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async put(actor: Actor, sha256: string, code: string): Promise<UploadedCode> {
    const id = requireHash(sha256);
    requireBytes(code, bundleMax, 'A text of code');
    if (codeHash(code) !== sha256) throw invalid({ code: ['has another SHA-256 than the path'] });
    const { tenantId } = actor.principal;
    const held =
      (await this.#change(actor, id, 'code.upload', (sql) => hold(sql, tenantId, id))) ??
      (await this.#store(actor, id, code));
    return { sha256, held_until: held.toISOString() };
  }

  async putMap(actor: Actor, sha256: string, map: string): Promise<{ sha256: string }> {
    const id = requireHash(sha256);
    requireBytes(map, mapBytesMax, 'A source map');
    const read = readMap(map);
    if (!read) {
      const of = `a flat source map of version 3, with at most ${sourcesMax} sources`;
      throw invalid({ map: [`must be the JSON of ${of}`] });
    }
    const { tenantId } = actor.principal;
    const place = codePlace(tenantId, id, 'map');
    const sealed = await this.ctx.sealer.seal(place, JSON.stringify(read));
    return this.#change(actor, id, 'code.map', async (sql) => {
      const [text] = await sql.query<{ bytes: number; waits: boolean }>(
        `SELECT octet_length(text) AS bytes, held_until > now() AS waits FROM code_texts
         WHERE tenant_id = $1 AND id = $2 AND held_until IS NOT NULL FOR UPDATE`,
        [tenantId, id],
      );
      if (!text) throw notFound('text of code');
      const { bytes, waits } = text;
      await requireRoom(sql, tenantId, { id, bytes: bytes + sealed.length, waits });
      await sql.query('UPDATE code_texts SET map = $3 WHERE tenant_id = $1 AND id = $2', [
        ...[tenantId, id, sealed],
      ]);
      return { sha256 };
    });
  }

  async get(
    { principal: { tenantId } }: Actor,
    sha256: string,
  ): Promise<{ sha256: string; code: string }> {
    const id = requireHash(sha256);
    const sql = eachInTenant(this.ctx.dataSource, tenantId);
    const code = (await readCodes(sql, this.ctx.sealer, tenantId, [id])).get(id);
    if (code === undefined || codeHash(code) !== sha256) throw notFound('text of code');
    return { sha256, code };
  }

  /** The check holds up the process. A text that is there has passed it. */
  async #store(actor: Actor, id: string, code: string): Promise<Date> {
    checkCode(code, 'code', offeredNames(this.ctx.config));
    const { tenantId } = actor.principal;
    const text = await this.ctx.sealer.seal(codePlace(tenantId, id), code);
    return this.#change(
      actor,
      id,
      'code.upload',
      async (sql) => (await hold(sql, tenantId, id)) ?? insert(sql, tenantId, id, text),
    );
  }

  /** One upload of a tenant at a time, so that two cannot take the same room. Undefined: none was. */
  async #change<Result>(
    { principal: { tenantId, actorId }, traceId }: Actor,
    id: string,
    operation: string,
    work: (sql: Sql) => Promise<Result>,
  ): Promise<Result> {
    return inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      await sql.query(
        `SELECT pg_advisory_xact_lock(hashtextextended('uploads of ' || id, 0)) FROM tenants
         WHERE id = $1 FOR KEY SHARE`,
        [tenantId],
      );
      const result = await work(sql);
      if (result === undefined) return result;
      const line = { operation, entityType: 'code', entityId: id, outcome: 'success' } as const;
      await record(sql, { tenantId, actorId, traceId, ...line });
      return result;
    });
  }
}

function requireHash(sha256: string): string {
  if (!sha256Pattern.test(sha256)) throw notFound('text of code');
  return idOfHash(sha256);
}

function requireBytes(text: string, bytesMax: number, what: string): void {
  if (Buffer.byteLength(text) <= bytesMax) return;
  throw new Problem('payload_too_large', { detail: `${what} is limited to ${bytesMax} bytes.` });
}

async function insert(sql: Sql, tenantId: string, id: string, text: Buffer): Promise<Date> {
  await requireRoom(sql, tenantId, { id, bytes: text.length, waits: true });
  const [row] = await sql.query<{ until: Date }>(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at, held_until)
     VALUES ($1, $2, $3, '-infinity', now() + interval '1 hour') RETURNING held_until AS until`,
    [tenantId, id, text],
  );
  return row?.until ?? new Date();
}

/**
 * A text that is there stays for another hour, unless something refers to it anyway. It waits then,
 * and needs room as a new one does.
 */
async function hold(sql: Sql, tenantId: string, id: string): Promise<Date | undefined> {
  const [text] = await sql.query<{ bytes: number; isNamed: boolean }>(
    `SELECT octet_length(text) + coalesce(octet_length(map), 0) AS bytes,
       last_in_force_at = 'infinity' AS "isNamed"
     FROM code_texts WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  if (!text) return undefined;
  const { bytes, isNamed } = text;
  if (!isNamed) await requireRoom(sql, tenantId, { id, bytes, waits: true });
  const [row] = await sql.query<{ until: Date }>(
    `UPDATE code_texts SET held_until = CASE
       WHEN last_in_force_at = 'infinity' THEN coalesce(held_until, now())
       ELSE now() + interval '1 hour' END
     WHERE tenant_id = $1 AND id = $2 RETURNING now() + interval '1 hour' AS until`,
    [tenantId, id],
  );
  return row?.until;
}

/** A text as it will be. `waits`: nothing names it. */
interface Taking {
  readonly id: string;
  readonly bytes: number;
  readonly waits: boolean;
}

/** Refuses a text for which the other texts of the tenant leave no room. */
async function requireRoom(
  sql: Sql,
  tenantId: string,
  { id, bytes, waits }: Taking,
): Promise<void> {
  const [row] = await sql.query<{ texts: string; unused: string; all: string }>(
    `SELECT count(*) FILTER (WHERE is_unused) AS texts,
       coalesce(sum(bytes) FILTER (WHERE is_unused), 0) AS unused,
       coalesce(sum(bytes), 0) AS "all"
     FROM (
       SELECT octet_length(text) + coalesce(octet_length(map), 0) AS bytes,
         held_until > now() AS is_unused
       FROM code_texts WHERE tenant_id = $1 AND id <> $2 AND held_until IS NOT NULL) uploaded`,
    [tenantId, id],
  );
  const { texts, unused, all } = row ?? { texts: 0, unused: 0, all: 0 };
  const areTooMany = Number(texts) >= unusedTextsMax || Number(unused) + bytes > unusedBytesMax;
  if (waits && areTooMany) {
    throw new Problem('conflict', {
      detail:
        `At most ${unusedTextsMax} texts of ${unusedBytesMax} bytes may wait for a resource that ` +
        'names them. Each is forgotten after an hour.',
    });
  }
  if (Number(all) + bytes > uploadedBytesMax) {
    throw new Problem('conflict', {
      detail: `The texts of code of a tenant may take at most ${uploadedBytesMax} bytes.`,
    });
  }
}
