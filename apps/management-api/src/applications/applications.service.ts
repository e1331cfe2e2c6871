import { Injectable } from '@nestjs/common';
import { mayHold, type ApplicationType, type Permission } from '@glovebox/access';
import { invalid } from '@glovebox/problems';
import type { Actor } from '@glovebox/vault';
import { authorOf, change } from '../change';
import { Context, type ManagementContext } from '../context';
import {
  toApplicationResponse,
  type ApplicationResponse,
  type CreateApplication,
} from './applications.dto';
import { issueApplication } from './issue-application';

@Injectable()
export class ApplicationsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(actor: Actor, input: CreateApplication): Promise<ApplicationResponse> {
    const { name, type, permissions = [], rules = [], expires_at } = input;
    checkPermissions({ type, permissions, rules });
    const author = authorOf(actor);
    return change(this.ctx, author, 'create', async (manager) => {
      const { application, key, definition } = await issueApplication(this.ctx, manager, author, {
        name,
        type,
        permissions: [...new Set(permissions)],
        rules: rules.map((rule) => ({
          description: rule.description ?? '',
          priority: rule.priority,
          container: rule.container.toLowerCase(),
          transform: rule.transform,
          permissions: [...new Set(rule.permissions)],
        })),
        expiresAt: expires_at === undefined ? null : new Date(expires_at),
      });
      const result = { ...toApplicationResponse(application, 'created'), key };
      return { result, definitions: [definition] };
    });
  }
}

/** Something must be permitted, and nothing that the type may not hold. */
function checkPermissions(input: {
  type: ApplicationType;
  permissions: readonly Permission[];
  rules: readonly { permissions: readonly Permission[] }[];
}): void {
  const { type, permissions, rules } = input;
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
  if (Object.keys(errors).length > 0) throw invalid(errors);
}
