import type { AccessRule, ApplicationType, Permission } from '@glovebox/access';
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Tenant } from './tenant.entity';

@Entity('applications')
@Index('applications_newest', { synchronize: false })
export class Application {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'tenant_id' })
  @ForeignKey(() => Tenant, { name: 'applications_tenant_fk' })
  tenantId!: string;

  @Column('text')
  name!: string;

  @Column('text')
  type!: ApplicationType;

  @Column('text', { array: true })
  permissions!: Permission[];

  @Column('jsonb')
  rules!: AccessRule[];

  @Column({ type: 'timestamptz', name: 'expires_at', precision: 3, nullable: true })
  expiresAt!: Date | null;

  @Column('uuid', { name: 'created_by', nullable: true })
  createdBy!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column('uuid', { name: 'modified_by', nullable: true })
  modifiedBy!: string | null;

  @Column({ type: 'timestamptz', name: 'modified_at', precision: 3, nullable: true })
  modifiedAt!: Date | null;
}
