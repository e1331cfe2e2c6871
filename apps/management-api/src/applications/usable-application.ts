import type { EntityManager } from 'typeorm';
import { Application } from '../entities/application.entity';
import type { ApplicationReference } from './applications.dto';

interface Attached {
  readonly applicationId: string | null;
  /** Absent too where a kept one was deleted. */
  readonly application: Application | undefined;
  readonly errors: Record<string, string[]>;
}

/**
 * What a reactor or proxy is to act as: an application of the tenant, public or private. The one of
 * `kept` stays without question: it may have been deleted after it was attached.
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
