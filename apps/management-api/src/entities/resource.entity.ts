import type { DefinitionKind } from '@glovebox/definitions';
import { Column, PrimaryColumn } from 'typeorm';

/** The columns that every resource of a tenant has. */
export abstract class Resource {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'tenant_id' })
  tenantId!: string;

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  slug!: string | null;

  @Column('uuid', { name: 'created_by', nullable: true })
  createdBy!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column('uuid', { name: 'modified_by', nullable: true })
  modifiedBy!: string | null;

  @Column({ type: 'timestamptz', name: 'modified_at', precision: 3, nullable: true })
  modifiedAt!: Date | null;
}

/** An entity class whose rows are resources. */
export interface ResourceEntity {
  new (): Resource;
  /** How errors name a row. */
  readonly noun: string;
  /** Of its definitions. */
  readonly kind: DefinitionKind;
}
