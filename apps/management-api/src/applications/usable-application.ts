import type { EntityManager } from 'typeorm';
import { Application } from '../entities/application.entity';
import type { ApplicationReference } from './applications.dto';

interface Attached {
  readonly applicationId: string | null;
  /** Also undefined if a kept application was deleted. */
  readonly application: Application | undefined;
  readonly errors: Record<string, string[]>;
}

/**
 * Looks up the application that a reactor or proxy acts as. It must be a public or private
 * application of the tenant. `kept` is accepted unchecked: it may have been deleted since.
 */
export async function usableApplication(
  manager: EntityManager,
  tenantId: string,
  reference: ApplicationReference | undefined,
  kept: string | null = null,
): Promise<Attached> {
  if (!reference) return { applicationId: null, application: undefined, errors: {} };
  const id = reference.id.toLowerCase();
  const found = await manager.findOneBy(Application, { id, tenantId });
  const application = found && found.type !== 'management' ? found : undefined;
  const isFine = application !== undefined || id === kept;
  const must = 'must be a public or private application of the tenant';
  return { applicationId: id, application, errors: isFine ? {} : { 'application.id': [must] } };
}
