import { randomUUID } from 'node:crypto';
import type { Resource } from '../entities/resource.entity';
import type { Author } from './change';

type Stamped = Pick<Resource, 'createdBy' | 'createdAt' | 'modifiedBy' | 'modifiedAt'>;

export interface Stamps {
  created_by?: string;
  created_at: string;
  modified_by?: string;
  modified_at?: string;
}

/** The answer to a create has no `modified_*` members; every other answer has. */
export type Answer = 'created' | 'read';

export function toStamps(row: Stamped, answer: Answer): Stamps {
  const modifiedBy = row.modifiedBy ?? row.createdBy;
  return {
    ...(row.createdBy ? { created_by: row.createdBy } : {}),
    created_at: row.createdAt.toISOString(),
    ...(answer === 'read' && modifiedBy ? { modified_by: modifiedBy } : {}),
    ...(answer === 'read' ? { modified_at: (row.modifiedAt ?? row.createdAt).toISOString() } : {}),
  };
}

/** The common columns of a new row of the author's tenant. */
export function newRow({ tenantId, actorId }: Author, id: string = randomUUID()) {
  return {
    id,
    tenantId,
    slug: null,
    createdBy: actorId,
    createdAt: new Date(),
    modifiedBy: null,
    modifiedAt: null,
  };
}

/** The columns that record a change. */
export function modifiedNow({ actorId }: Author) {
  return { modifiedBy: actorId, modifiedAt: new Date() };
}
