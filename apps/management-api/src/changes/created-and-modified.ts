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

/** Which answer a response is in: that of a create knows of no change, every other one does. */
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

/** The columns that every new resource of the author's tenant begins with. */
export function newRow({ tenantId, actorId }: Author) {
  return {
    id: randomUUID(),
    tenantId,
    createdBy: actorId,
    createdAt: new Date(),
    modifiedBy: null,
    modifiedAt: null,
  };
}

/** The columns of a change. */
export function modifiedNow({ actorId }: Author) {
  return { modifiedBy: actorId, modifiedAt: new Date() };
}
