import type { EntityManager } from 'typeorm';
import { notLent, type Principal } from '@glovebox/access';
import { invalid, Problem } from '@glovebox/problems';
import { isJsonObject, type JsonObject } from '@glovebox/wire';
import { Application } from '../entities/application.entity';
import { touches, type MergePatch } from '../validation/patched-dto';
import type { ActingInput } from './applications.dto';

interface Attached {
  readonly applicationId: string | null;
  /** Also undefined if a kept application was deleted. */
  readonly application: Application | undefined;
  readonly errors: Record<string, string[]>;
}

/**
 * Looks up the application that a reactor or proxy acts as. It must be a public or private
 * application of the tenant. The one that it acts as already is accepted unchecked: it may have been
 * deleted since. A person may name another one only where its permissions are not more than the
 * person may lend to code (docs/adr/0108).
 */
export async function usableApplication(
  manager: EntityManager,
  { tenantId, person }: { readonly tenantId: string; readonly person?: Principal | undefined },
  input: ActingInput,
  current: string | null,
): Promise<Attached> {
  const named = (input.application?.id ?? input.application_id)?.toLowerCase();
  if (named === undefined) return { applicationId: null, application: undefined, errors: {} };
  const errors = contradictionIn(input);
  // Locks it against deletion, which looks for what uses it.
  const found = await manager.findOne(Application, {
    where: { id: named, tenantId },
    lock: { mode: 'for_key_share' },
  });
  const application = found && found.type !== 'management' ? found : undefined;
  if (!application && named !== current) {
    const path = input.application?.id === undefined ? 'application_id' : 'application.id';
    errors[path] = ['must be a public or private application of the tenant'];
  }
  if (application && person && named !== current) requireLent(application, person);
  return { applicationId: named, application, errors };
}

function requireLent({ id, tenantId, type, permissions, rules }: Application, person: Principal) {
  const more = notLent({ actorId: id, tenantId, type, permissions, rules }, person);
  if (more.length === 0) return;
  throw new Problem('permission_denied', {
    detail: `The application holds ${more.join(' and ')}, which your role may not give to code. An admin may name it.`,
  });
}

const contradiction = { application_id: ['must be left out or the same as application.id'] };

function contradictionIn({ application, application_id }: ActingInput): Record<string, string[]> {
  if (application?.id === undefined || application_id === undefined) return {};
  return application.id.toLowerCase() === application_id.toLowerCase() ? {} : { ...contradiction };
}

/** The reference in the document that a patch is applied to, under the names that the patch uses. */
export function referenceToPatch(patch: MergePatch, current: string | null): JsonObject {
  const isObject = touches(patch, 'application');
  const isId = touches(patch, 'application_id');
  if (isObject && isId && isJsonObject(patch)) {
    const { application, application_id } = patch;
    const id = isJsonObject(application) ? application.id : application;
    if ((id === null) !== (application_id === null)) throw invalid(contradiction);
  }
  if (current === null) return {};
  return {
    ...(isObject || !isId ? { application: { id: current } } : {}),
    ...(isId ? { application_id: current } : {}),
  };
}
