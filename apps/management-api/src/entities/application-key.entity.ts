import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Tenant } from './tenant.entity';
import { Application } from './application.entity';

@Entity('application_keys')
@Unique('application_keys_hash_unique', ['keyHash'])
@Index('application_keys_of_application', { synchronize: false })
export class ApplicationKey {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'tenant_id' })
  @ForeignKey(() => Tenant, { name: 'application_keys_tenant_fk' })
  tenantId!: string;

  @Column('uuid', { name: 'application_id' })
  @ForeignKey(() => Application, { name: 'application_keys_application_fk', onDelete: 'CASCADE' })
  applicationId!: string;

  @Column('text', { name: 'key_hash' })
  keyHash!: string;

  @Column('uuid', { name: 'created_by', nullable: true })
  createdBy!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'timestamptz', name: 'last_used_at', precision: 3, nullable: true })
  lastUsedAt!: Date | null;
}
