import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  applicationDeleted,
  mayHold,
  normalDestinations,
  type AccessRule,
  type Actor,
  type ApplicationType,
  type Permission,
} from '@glovebox/access';
import { invalid, Problem } from '@glovebox/problems';
import { change, type Author, type ChangeOutcome } from '../changes/change';
import { changeRow } from '../changes/change-row';
import { Context, type ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { readRow } from '../database/read-row';
import { listResources } from '../lists/list-resources';
import type { Page } from '../lists/page';
import { modifiedNow } from '../changes/created-and-modified';
import { slugAfter } from '../changes/slug';
import { patchedDto, type MergePatch } from '../validation/patched-dto';
import { ApplicationKey } from '../entities/application-key.entity';
import { Application } from '../entities/application.entity';
import {
  toApplicationInput,
  toApplicationResponse,
  UpdateApplication,
  type ApplicationListQuery,
  type ApplicationResponse,
  type CreateApplication,
} from './applications.dto';
import { toDecisionResponse, type AskDecision, type DecisionResponse } from './decisions.dto';
import { issueApplication, toApplicationDefinition } from './issue-application';
import { keepManager } from './keep-manager';
import { refuseUsed } from './users-of-application';

@Injectable()
export class ApplicationsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(author: Author, input: CreateApplication): Promise<ApplicationResponse> {
    checkGrants(input.type, input);
    return change(this.ctx, author, 'create', async (manager) => {
      const { application, key, definition } = await issueApplication(this.ctx, manager, author, {
        type: input.type,
        ...applicationColumns(input),
        slug: input.slug ?? null,
      });
      const result = { ...toApplicationResponse(application, 'created'), key };
      return { result, definitions: [definition] };
    });
  }

  list({ principal }: Actor, query: ApplicationListQuery): Promise<Page> {
    const { tenantId } = principal;
    const more = query.type === undefined ? {} : { type: query.type };
    return listResources(
      this.ctx.dataSource,
      Application,
      tenantId,
      query,
      (row) => toApplicationResponse(row, 'read'),
      more,
    );
  }

  /** Returns the application that the API key of the call belongs to. */
  async own({ principal: { tenantId, actorId } }: Actor): Promise<ApplicationResponse> {
    const found = await readRow(this.ctx.dataSource, Application, { tenantId, id: actorId });
    if (!found) throw applicationDeleted();
    return toApplicationResponse(found.row, 'read');
  }

  update(author: Author, id: string, input: UpdateApplication): Promise<ApplicationResponse> {
    const row = { entity: Application, id };
    return changeRow(this.ctx, author, 'update', row, (manager, application) =>
      replaceApplication(manager, author, application, input),
    );
  }

  async patch(author: Author, id: string, patch: MergePatch): Promise<void> {
    const row = { entity: Application, id };
    await changeRow(this.ctx, author, 'update', row, async (manager, application) => {
      const input = patchedDto(UpdateApplication, toApplicationInput(application), patch);
      return input
        ? replaceApplication(manager, author, application, input, patch)
        : { result: undefined };
    });
  }

  /** Asks the definitions of the moment, as each call of the application does. */
  async decide(
    actor: Actor,
    { id, tenantId }: Application,
    { token_id, permission }: AskDecision,
  ): Promise<DecisionResponse> {
    const { dataSource, definitions, vault } = this.ctx;
    const application = (await definitions.follower.current()).principal(tenantId, id);
    if (!application) {
      throw new Problem('conflict', { detail: 'The application has expired: it may do nothing.' });
    }
    const asked = { application, permission, tokenId: token_id };
    const sql = eachInTenant(dataSource, tenantId);
    return toDecisionResponse(await vault.judgeToken(sql, actor, asked));
  }

  /** With `isForced`, reactors and proxies that use the application stay and act as nobody. */
  async remove(author: Author, id: string, isForced: boolean): Promise<void> {
    const row = { entity: Application, id };
    await changeRow(this.ctx, author, 'delete', row, async (manager, application) => {
      if (!isForced) await refuseUsed(manager, application);
      await keepManager(manager, application, () => manager.remove(application));
      return { result: undefined, deletions: [{ kind: 'application', id }] };
    });
  }
}

/** The whole update, within a transaction that holds the row. */
export async function replaceApplication(
  manager: EntityManager,
  author: Author,
  application: Application,
  input: UpdateApplication,
  patch?: MergePatch,
): Promise<ChangeOutcome<ApplicationResponse>> {
  const { id, tenantId, type } = application;
  if (input.type !== undefined && input.type !== type) {
    throw invalid({ type: [`must be ${type}: the type of an application cannot be changed`] });
  }
  checkGrants(type, input);
  const slug = slugAfter(application.slug, input, patch);
  Object.assign(application, applicationColumns(input), modifiedNow(author), { slug });
  await keepManager(manager, application, () => manager.save(application));
  const keys = await manager.findBy(ApplicationKey, { tenantId, applicationId: id });
  return {
    result: toApplicationResponse(application, 'read'),
    definitions: [toApplicationDefinition(application, keys)],
  };
}

/** The columns that a document sets, with defaults for the members that it omits. */
export function applicationColumns(input: UpdateApplication) {
  const { name, permissions = [], rules = [], expires_at, allowed_origins = [] } = input;
  return {
    name,
    permissions: [...new Set(permissions)],
    rules: rules.map((rule) => ({
      description: rule.description ?? '',
      priority: rule.priority,
      container: rule.container.toLowerCase(),
      transform: rule.transform,
      permissions: [...new Set(rule.permissions)],
      ...boundOf(rule.destinations),
    })),
    expiresAt: expires_at === undefined ? null : new Date(expires_at),
    allowedOrigins: allowed_origins,
  };
}

function boundOf(list: readonly string[] | undefined): Pick<AccessRule, 'destinations'> {
  const destinations = normalDestinations(list);
  return destinations ? { destinations } : {};
}

/** Requires at least one permission or rule, and refuses what the type may not hold. */
export function checkGrants(
  type: ApplicationType,
  { permissions = [], rules = [], allowed_origins = [] }: UpdateApplication,
): void {
  const errors: Record<string, string[]> = {};
  const check = (path: string, wanted: readonly Permission[]): void => {
    const forbidden = wanted.filter((permission) => !mayHold(type, permission));
    if (forbidden.length === 0) return;
    errors[path] = forbidden.map(
      (permission) => `${permission} cannot be held by an application of type ${type}`,
    );
  };
  check('permissions', permissions);
  rules.forEach((rule, index) => check(`rules.${index}.permissions`, rule.permissions));
  if (permissions.length === 0 && rules.length === 0) {
    errors.permissions = ['must not be empty unless there are rules'];
  }
  if (allowed_origins.length > 0 && type !== 'public') {
    errors.allowed_origins = ['can be held by an application of type public only'];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
}
