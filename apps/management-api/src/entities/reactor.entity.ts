import type { Isolation } from '@glovebox/sandbox';
import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { ReactorFormula } from './reactor-formula.entity';
import { Resource } from './resource.entity';
import { Tenant } from './tenant.entity';

@Entity('reactors')
@ForeignKey(() => Tenant, ['tenantId'], ['id'], { name: 'reactors_tenant_fk' })
@Index('reactors_newest', { synchronize: false })
@Index('reactors_slug_unique', { synchronize: false })
@Index('reactors_of_formula', { synchronize: false })
export class Reactor extends Resource {
  static readonly noun = 'reactor';
  static readonly kind = 'reactor';

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
}
