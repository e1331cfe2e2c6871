import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('tenants')
export class Tenant {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column('jsonb')
  settings!: Record<string, string>;

  /** Sealed: a list of `{secret, until}`, newest first. */
  @Column('bytea', { name: 'webhook_secrets' })
  webhookSecrets!: Buffer;

  /** Sealed: a list of `{certificate, privateKey, until}`, newest first; null before the first use. */
  @Column('bytea', { name: 'forward_authorities', nullable: true })
  forwardAuthorities!: Buffer | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column('uuid', { name: 'modified_by', nullable: true })
  modifiedBy!: string | null;

  @Column({ type: 'timestamptz', name: 'modified_at', precision: 3, nullable: true })
  modifiedAt!: Date | null;
}
