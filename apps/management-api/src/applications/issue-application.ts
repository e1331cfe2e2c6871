import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import {
  generateApiKey,
  type AccessRule,
  type ApplicationType,
  type Permission,
} from '@glovebox/access';
import type { ApplicationDefinition } from '@glovebox/definitions';
import type { Author } from '../change';
import type { ManagementContext } from '../context';
import { ApplicationKey } from './application-key.entity';
import { Application } from './application.entity';

export interface NewApplication {
  readonly name: string;
  readonly type: ApplicationType;
  readonly permissions: Permission[];
  readonly rules?: AccessRule[];
  readonly expiresAt?: Date | null;
}

/** An application with its first key. The key is in the result and nowhere else. */
export async function issueApplication(
  ctx: ManagementContext,
  manager: EntityManager,
  author: Author,
  input: NewApplication,
): Promise<{ application: Application; key: string; definition: ApplicationDefinition }> {
  const createdAt = new Date();
  const application = manager.create(Application, {
    id: randomUUID(),
    tenantId: author.tenantId,
    name: input.name,
    type: input.type,
    permissions: input.permissions,
    rules: input.rules ?? [],
    expiresAt: input.expiresAt ?? null,
    createdBy: author.actorId,
    createdAt,
    modifiedBy: null,
    modifiedAt: null,
  });
  await manager.insert(Application, application);
  const key = generateApiKey();
  const row = manager.create(ApplicationKey, {
    id: randomUUID(),
    tenantId: author.tenantId,
    applicationId: application.id,
    keyHash: ctx.keyHash(key),
    createdBy: author.actorId,
    createdAt,
  });
  await manager.insert(ApplicationKey, row);
  return { application, key, definition: toApplicationDefinition(application, [row]) };
}

export function toApplicationDefinition(
  application: Application,
  keys: readonly ApplicationKey[],
): ApplicationDefinition {
  const { id, tenantId, type, permissions, rules, expiresAt } = application;
  return {
    kind: 'application',
    id,
    tenantId,
    type,
    permissions,
    rules,
    expiresAt: expiresAt?.toISOString() ?? null,
    keys: keys.map((key) => ({ id: key.id, hash: key.keyHash })),
  };
}
