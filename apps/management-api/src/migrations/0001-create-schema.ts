import type { QueryRunner } from 'typeorm';
import { auditLog } from './0001-schema/audit-log';
import { definitions } from './0001-schema/definitions';
import { deliveries } from './0001-schema/deliveries';
import { housekeeping } from './0001-schema/housekeeping';
import { idempotency } from './0001-schema/idempotency';
import { keys } from './0001-schema/keys';
import { partitions } from './0001-schema/partitions';
import { resources } from './0001-schema/resources';
import { runs } from './0001-schema/runs';
import { vault } from './0001-schema/vault';
import type { Migration } from './migration';

/** Each uses those before it. */
const subjects = [
  definitions,
  keys,
  resources,
  vault,
  idempotency,
  runs,
  deliveries,
  auditLog,
  partitions,
  housekeeping,
];

export class CreateSchema0000000000001 implements Migration {
  readonly kind = 'expand';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const { create } of subjects) await queryRunner.query(create);
    await queryRunner.query('SELECT make_partitions()');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await refuseWithTenants(queryRunner);
    for (const { drop } of subjects.toReversed()) await queryRunner.query(drop);
  }
}

/** Below this migration there is nothing: to take it back deletes every token. */
async function refuseWithTenants(queryRunner: QueryRunner): Promise<void> {
  const [{ tenants }] = (await queryRunner.query('SELECT count(*) AS tenants FROM tenants')) as [
    { tenants: string },
  ];
  if (tenants === '0') return;
  throw new Error(
    `Nothing was changed: to take the first migration back would delete all data of ${tenants} tenants. ` +
      'Drop the database if that is what you want.',
  );
}
