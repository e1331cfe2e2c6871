/** When and by whom a row was made and changed. */
interface Stamped {
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly modifiedBy: string | null;
  readonly modifiedAt: Date | null;
}

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

/** The columns of a change. */
export function modifiedNow({ actorId }: { readonly actorId: string | null }) {
  return { modifiedBy: actorId, modifiedAt: new Date() };
}
