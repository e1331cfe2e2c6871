import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import {
  generateApiKey,
  mayHold,
  permissions,
  type AccessRule,
  type ApplicationType,
  type Permission,
} from '@glovebox/access';
import type { ApplicationDefinition } from '@glovebox/definitions';
import type { Author } from '../changes/change';
import { newRow } from '../changes/created-and-modified';
import type { ManagementContext } from '../context';
import { ApplicationKey } from '../entities/application-key.entity';
import { Application } from '../entities/application.entity';
import { nameMax } from '../validation/resource-limits';

interface NewApplication {
  readonly name: string;
  readonly type: ApplicationType;
  readonly permissions: Permission[];
  readonly rules?: AccessRule[];
  readonly expiresAt?: Date | null;
  readonly allowedOrigins?: string[];
  readonly slug?: string | null;
}

/** Creates an application with its first key. Only the result holds the key. */
export async function issueApplication(
  ctx: ManagementContext,
  manager: EntityManager,
  author: Author,
  input: NewApplication,
): Promise<{ application: Application; key: string; definition: ApplicationDefinition }> {
  const application = await insertApplication(manager, newRow(author), input);
  const { key, row } = await issueKey(ctx, manager, author, application.id);
  return { application, key, definition: toApplicationDefinition(application, [row]) };
}

/** Creates an application that has no key. */
export async function insertApplication(
  manager: EntityManager,
  row: ReturnType<typeof newRow>,
  input: NewApplication,
): Promise<Application> {
  const application = manager.create(Application, {
    ...row,
    name: input.name,
    type: input.type,
    permissions: input.permissions,
    rules: input.rules ?? [],
    expiresAt: input.expiresAt ?? null,
    allowedOrigins: input.allowedOrigins ?? [],
    slug: input.slug ?? null,
  });
  await manager.insert(Application, application);
  return application;
}

/** Creates an application that may manage everything of the tenant. */
export function issueManagement(
  ctx: ManagementContext,
  manager: EntityManager,
  author: Author,
  tenantName: string,
): ReturnType<typeof issueApplication> {
  return issueApplication(ctx, manager, author, {
    name: `${tenantName} management`.slice(0, nameMax),
    type: 'management',
    permissions: permissions.filter((permission) => mayHold('management', permission)),
  });
}

/** Creates one more key of an application. Only its hash is stored. */
export async function issueKey(
  ctx: ManagementContext,
  manager: EntityManager,
  author: Author,
  applicationId: string,
): Promise<{ key: string; row: ApplicationKey }> {
  const key = generateApiKey();
  const row = manager.create(ApplicationKey, {
    id: randomUUID(),
    tenantId: author.tenantId,
    applicationId,
    keyHash: ctx.keyHash(key),
    createdBy: author.actorId,
    createdAt: new Date(),
    lastUsedAt: null,
  });
  await manager.insert(ApplicationKey, row);
  return { key, row };
}

export function toApplicationDefinition(
  application: Application,
  keys: readonly ApplicationKey[],
): ApplicationDefinition {
  const { id, tenantId, type, permissions, rules, expiresAt, allowedOrigins } = application;
  return {
    kind: 'application',
    id,
    tenantId,
    type,
    permissions,
    rules,
    expiresAt: expiresAt?.toISOString() ?? null,
    allowedOrigins,
    keys: keys.map((key) => ({ id: key.id, hash: key.keyHash })),
  };
}
