import type { DataSource } from 'typeorm';

// Partitions of a day or month depend on the time, and TypeORM makes its own table.
const relations = `
  SELECT c.* FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace
    AND c.relname !~ '_until_[0-9]{8}' AND c.relname !~ '^migrations'`;

/** Each selects `place`, `name` and `line`. */
const parts = [
  `SELECT relname AS place, '' AS name, concat_ws(' ',
     CASE relkind WHEN 'v' THEN 'view' WHEN 'p' THEN 'partitioned table' ELSE 'table' END,
     relname, 'of', relowner::regrole, pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid),
     reloptions::text, CASE WHEN relrowsecurity THEN 'row-level security' END,
     CASE WHEN relforcerowsecurity THEN 'forced' END) AS line
   FROM r WHERE relkind IN ('r', 'p', 'v')`,
  `SELECT relname, 'column ' || to_char(attnum, '00'), concat_ws(' ', 'column', attnum, attname,
     format_type(atttypid, atttypmod),
     (SELECT 'collate ' || collname FROM pg_collation WHERE oid = attcollation AND collname <> 'default'),
     CASE WHEN attnotnull THEN 'not null' END,
     -- From Postgres 17 on, partitions have the identity of their log.
     CASE WHEN attidentity = 'a' AND NOT relispartition THEN 'identity' END,
     CASE WHEN attgenerated <> '' THEN 'generated' END,
     CASE WHEN attstorage <> typstorage THEN 'storage ' || attstorage::text END,
     'default ' || (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef
       WHERE adrelid = attrelid AND adnum = attnum))
   FROM r JOIN pg_attribute ON attrelid = r.oid AND attnum > 0 JOIN pg_type t ON t.oid = atttypid
   WHERE relkind IN ('r', 'p', 'v') AND NOT attisdropped`,
  `SELECT relname, 'constraint ' || conname, concat_ws(' ', 'constraint', conname,
     pg_get_constraintdef(c.oid), CASE WHEN NOT convalidated THEN 'not valid' END)
   FROM r JOIN pg_constraint c ON conrelid = r.oid WHERE contype NOT IN ('n', 't')`,
  `SELECT r.relname, 'index ' || i.relname, concat_ws(' ', pg_get_indexdef(i.oid),
     'part of ' || (SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = i.oid),
     CASE WHEN NOT indisvalid THEN 'invalid' END)
   FROM r JOIN pg_index ON indrelid = r.oid JOIN pg_class i ON i.oid = indexrelid`,
  `SELECT relname, 'policy ' || polname, concat_ws(' ', CASE WHEN polpermissive THEN 'permissive'
     ELSE 'restrictive' END, 'policy', polname, 'for', polcmd::text, 'to', ARRAY(
       SELECT role::regrole::text FROM unnest(polroles) role ORDER BY 1)::text,
     'using ' || pg_get_expr(polqual, polrelid), 'check ' || pg_get_expr(polwithcheck, polrelid))
   FROM r JOIN pg_policy ON polrelid = r.oid`,
  `SELECT relname, 'trigger ' || tgname, concat_ws(' ', tgenabled::text, pg_get_triggerdef(t.oid))
   FROM r JOIN pg_trigger t ON tgrelid = r.oid WHERE NOT tgisinternal`,
  `SELECT relname, 'definition', pg_get_viewdef(oid) FROM r WHERE relkind = 'v'`,
  `SELECT relname, 'sequence', concat_ws(' ', 'sequence', relname, relowner::regrole,
     seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle)
   FROM r JOIN pg_sequence ON seqrelid = r.oid`,
  `SELECT relname, 'grant ' || grantee::regrole::text || coalesce(' ' || attname, ''), concat_ws(' ',
     'grant', string_agg(privilege_type, ', ' ORDER BY privilege_type), '(' || attname || ')', 'to',
     CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END,
     CASE WHEN bool_or(is_grantable) THEN 'with grant option' END)
   FROM (
     SELECT relname, relowner, NULL AS attname, (aclexplode(relacl)).* FROM r
     UNION ALL
     SELECT relname, relowner, attname, (aclexplode(attacl)).*
     FROM r JOIN pg_attribute ON attrelid = r.oid
   ) g WHERE grantee <> relowner GROUP BY relname, attname, grantee`,
  `SELECT '~' || p.oid::regprocedure::text, '', concat_ws(' ', 'function of', proowner::regrole,
     'for', ARRAY(SELECT CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END
       FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) ORDER BY 1)::text,
     pg_get_functiondef(p.oid))
   FROM pg_proc p WHERE pronamespace = 'public'::regnamespace`,
];

/**
 * All that a dump of the schema would hold, as text that does not depend on the time, on the order
 * of grants or on indents.
 */
export async function schemaText(source: DataSource): Promise<string> {
  const rows = await source.query<{ line: string }[]>(
    `WITH r AS (${relations}), lines AS (${parts.join(' UNION ALL ')})
     SELECT line FROM lines ORDER BY place COLLATE "C", name COLLATE "C"`,
  );
  const lines = rows.flatMap(({ line }) => line.split('\n'));
  return `${lines.map((line) => line.trim()).join('\n')}\n`;
}
