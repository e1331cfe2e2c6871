import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import { notFound } from '@glovebox/problems';
import type { ManagementContext } from '../context';
import type { Resource, ResourceEntity } from '../entities/resource.entity';
import { readRow } from '../database/read-row';
import { isUuid } from '../validation/uuid';
import { actorOf, type ApiRequest } from './request';

const metadata = 'resource';

/** Declares that the `id` in the handler's path names a row of this entity. */
export const OfResource = (entity: ResourceEntity): CustomDecorator =>
  SetMetadata(metadata, entity);

export const resourceOf = (handler: object): ResourceEntity | undefined =>
  Reflect.getMetadata(metadata, handler) as ResourceEntity | undefined;

/**
 * Loads the row that the path names, before the body is read. Unknown, foreign and malformed ids
 * get the same answer.
 */
export async function checkResource(
  { dataSource }: ManagementContext,
  request: ApiRequest,
  entity: ResourceEntity,
): Promise<{ readonly row: Resource; readonly version: number }> {
  const { id } = request.params;
  if (!isUuid(id)) throw notFound(entity.noun);
  const { tenantId } = actorOf(request).principal;
  const found = await readRow(dataSource, entity, { tenantId, id: id.toLowerCase() });
  if (!found) throw notFound(entity.noun);
  return found;
}
