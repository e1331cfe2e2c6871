import type { EntityManager } from 'typeorm';
import { Application } from './application.entity';

/** What a reactor or proxy may act as: an application of the tenant, public or private. */
export async function usableApplication(
  manager: EntityManager,
  tenantId: string,
  id: string,
): Promise<Application | undefined> {
  const found = await manager.findOneBy(Application, { id: id.toLowerCase(), tenantId });
  return found && found.type !== 'management' ? found : undefined;
}

export const unusableApplication = ['must be a public or private application of the tenant'];
