import type { AccessRule, ApplicationType, Permission } from '@glovebox/access';
import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { Resource } from './resource.entity';
import { Tenant } from './tenant.entity';

@Entity('applications')
@ForeignKey(() => Tenant, ['tenantId'], ['id'], { name: 'applications_tenant_fk' })
@Index('applications_newest', { synchronize: false })
@Index('applications_slug_unique', { synchronize: false })
export class Application extends Resource {
  static readonly noun = 'application';
  static readonly kind = 'application';

  @Column('text')
  type!: ApplicationType;

  @Column('text', { array: true })
  permissions!: Permission[];

  @Column('jsonb')
  rules!: AccessRule[];

  @Column({ type: 'timestamptz', name: 'expires_at', precision: 3, nullable: true })
  expiresAt!: Date | null;

  @Column('text', { array: true, name: 'allowed_origins', default: () => "'{}'" })
  allowedOrigins!: string[];
}
