import type { ParameterType } from '@glovebox/definitions';
import type { Runtime } from '@glovebox/sandbox';
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Tenant } from './tenant.entity';

export interface ConfigurationEntry {
  name: string;
  description?: string;
  type: 'string' | 'boolean' | 'number';
}

export interface ParameterEntry {
  name: string;
  description?: string;
  type: ParameterType;
  optional: boolean;
}

@Entity('reactor_formulas')
@Index('reactor_formulas_newest', { synchronize: false })
export class ReactorFormula {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'tenant_id' })
  @ForeignKey(() => Tenant, { name: 'reactor_formulas_tenant_fk' })
  tenantId!: string;

  @Column('text')
  type!: 'private';

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('text', { nullable: true })
  icon!: string | null;

  @Column('text')
  code!: string;

  @Column('jsonb')
  configuration!: ConfigurationEntry[];

  @Column('jsonb', { name: 'request_parameters' })
  requestParameters!: ParameterEntry[];

  @Column('text')
  runtime!: Runtime;

  @Column('uuid', { name: 'created_by', nullable: true })
  createdBy!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column('uuid', { name: 'modified_by', nullable: true })
  modifiedBy!: string | null;

  @Column({ type: 'timestamptz', name: 'modified_at', precision: 3, nullable: true })
  modifiedAt!: Date | null;
}
