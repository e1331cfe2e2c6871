const half = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})/;

/**
 * Names code in the record of a run, and where its text is kept: half of the SHA-256, in the form of a
 * UUID. A whole hash would double what is stored for each run. Null: it is no hash, which must not
 * cost the record.
 */
export const codeIdOf = (codeHash: string): string | null =>
  half.exec(codeHash)?.slice(1).join('-') ?? null;
