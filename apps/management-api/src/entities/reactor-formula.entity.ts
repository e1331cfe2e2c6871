import type { ParameterType } from '@glovebox/definitions';
import type { Runtime } from '@glovebox/sandbox';
import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { Resource } from './resource.entity';
import { Tenant } from './tenant.entity';

export interface ConfigurationEntry {
  name: string;
  description?: string;
  type: 'string' | 'boolean' | 'number';
}

interface ParameterEntry {
  name: string;
  description?: string;
  type: ParameterType;
  optional: boolean;
  /** Rows of before there was this member lack it. */
  loggable?: boolean;
}

@Entity('reactor_formulas')
@ForeignKey(() => Tenant, ['tenantId'], ['id'], { name: 'reactor_formulas_tenant_fk' })
@Index('reactor_formulas_newest', { synchronize: false })
@Index('reactor_formulas_slug_unique', { synchronize: false })
@Index('reactor_formulas_bundle', { synchronize: false })
export class ReactorFormula extends Resource {
  static readonly noun = 'reactor formula';
  static readonly kind = 'formula';

  @Column('text')
  type!: 'private';

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('text', { nullable: true })
  icon!: string | null;

  /** Empty where it is a bundle. */
  @Column('text')
  code!: string;

  /** Names the bundle among the texts of the tenant. */
  @Column('text', { name: 'code_sha256', nullable: true })
  codeSha256!: string | null;

  @Column('jsonb')
  configuration!: ConfigurationEntry[];

  @Column('jsonb', { name: 'request_parameters' })
  requestParameters!: ParameterEntry[];

  @Column('text')
  runtime!: Runtime;
}
