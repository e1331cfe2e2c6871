import type { Isolation } from '@glovebox/sandbox';
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { ReactorFormula } from './reactor-formula.entity';
import { Tenant } from './tenant.entity';

@Entity('reactors')
@Index('reactors_newest', { synchronize: false })
@Index('reactors_of_formula', { synchronize: false })
export class Reactor {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'tenant_id' })
  @ForeignKey(() => Tenant, { name: 'reactors_tenant_fk' })
  tenantId!: string;

  @Column('text')
  name!: string;

  @Column('uuid', { name: 'formula_id' })
  @ForeignKey(() => ReactorFormula, { name: 'reactors_formula_fk' })
  formulaId!: string;

  @Column('uuid', { name: 'application_id', nullable: true })
  applicationId!: string | null;

  /** Sealed: a map of names to strings. */
  @Column('bytea')
  configuration!: Buffer;

  @Column('text')
  isolation!: Isolation;

  @Column('uuid', { name: 'created_by', nullable: true })
  createdBy!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column('uuid', { name: 'modified_by', nullable: true })
  modifiedBy!: string | null;

  @Column({ type: 'timestamptz', name: 'modified_at', precision: 3, nullable: true })
  modifiedAt!: Date | null;
}
