import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { notFound, Problem } from '@glovebox/problems';
import type { Author } from '../changes/change';
import { changeRow } from '../changes/change-row';
import { Context, type ManagementContext } from '../context';
import { statementsInTenant } from '../database/in-tenant';
import { modifiedNow } from '../changes/created-and-modified';
import { isUuid } from '../validation/uuid';
import { toApplicationKeyResponse, type ApplicationKeyResponse } from './application-keys.dto';
import { ApplicationKey } from '../entities/application-key.entity';
import { Application } from '../entities/application.entity';
import { toApplicationResponse, type ApplicationResponse } from './applications.dto';
import { issueKey, toApplicationDefinition } from './issue-application';
import { keepManager } from './keep-manager';

type OfApplication = Pick<Application, 'id' | 'tenantId'>;

/** Keys that one application may have. Its definition holds all of them. */
export const applicationKeysMax = 100;

/**
 * The keys of an application. Several keys work side by side. Each change locks the row of the
 * application, because its definition holds all keys and must not miss one.
 */
@Injectable()
export class ApplicationKeysService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  create(author: Author, id: string): Promise<ApplicationKeyResponse> {
    const row = { entity: Application, id };
    return changeRow(this.ctx, author, 'create_key', row, async (manager, application) => {
      const before = await keysOf(manager, application);
      if (before.length >= applicationKeysMax) {
        const detail = `An application may have at most ${applicationKeysMax} keys.`;
        throw new Problem('conflict', { detail });
      }
      const { key, row } = await issueKey(this.ctx, manager, author, id);
      return {
        result: { ...toApplicationKeyResponse(row), key },
        definitions: [toApplicationDefinition(application, [...before, row])],
      };
    });
  }

  regenerate(author: Author, id: string): Promise<ApplicationResponse> {
    const row = { entity: Application, id };
    return changeRow(this.ctx, author, 'regenerate', row, async (manager, application) => {
      await manager.delete(ApplicationKey, { tenantId: author.tenantId, applicationId: id });
      const { key, row } = await issueKey(this.ctx, manager, author, id);
      Object.assign(application, modifiedNow(author));
      await manager.save(application);
      return {
        result: { ...toApplicationResponse(application, 'read'), key },
        definitions: [toApplicationDefinition(application, [row])],
      };
    });
  }

  async list(application: OfApplication): Promise<ApplicationKeyResponse[]> {
    const rows = await statementsInTenant(this.ctx.dataSource, application.tenantId, (manager) =>
      keysOf(manager, application),
    );
    return rows.map(toApplicationKeyResponse);
  }

  async get(application: OfApplication, keyId: string): Promise<ApplicationKeyResponse> {
    const row = await statementsInTenant(this.ctx.dataSource, application.tenantId, (manager) =>
      findKey(manager, application, keyId),
    );
    return toApplicationKeyResponse(row);
  }

  async remove(author: Author, id: string, keyId: string): Promise<void> {
    const row = { entity: Application, id };
    await changeRow(this.ctx, author, 'delete_key', row, async (manager, application) => {
      const key = await findKey(manager, application, keyId);
      await keepManager(manager, application, () => manager.remove(key));
      const left = await keysOf(manager, application);
      return { result: undefined, definitions: [toApplicationDefinition(application, left)] };
    });
  }
}

/** Returns the keys, newest first. */
function keysOf(
  manager: EntityManager,
  { tenantId, id: applicationId }: OfApplication,
): Promise<ApplicationKey[]> {
  return manager.find(ApplicationKey, {
    where: { tenantId, applicationId },
    order: { createdAt: 'DESC', id: 'ASC' },
  });
}

async function findKey(
  manager: EntityManager,
  { tenantId, id: applicationId }: OfApplication,
  keyId: string,
): Promise<ApplicationKey> {
  const id = keyId.toLowerCase();
  const found = isUuid(id)
    ? await manager.findOneBy(ApplicationKey, { id, tenantId, applicationId })
    : null;
  if (!found) throw notFound('key');
  return found;
}
