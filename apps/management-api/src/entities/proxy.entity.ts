import type { Isolation, Runtime } from '@glovebox/sandbox';
import { Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import type { StoredMatch } from '../proxies/proxy-match';
import { Resource } from './resource.entity';
import { Tenant } from './tenant.entity';

export interface TransformEntry {
  code?: string;
  /** Names a bundle in the place of code. */
  code_sha256?: string;
  /** Absent for the default runtime. */
  runtime?: Runtime;
}

@Entity('proxies')
@ForeignKey(() => Tenant, ['tenantId'], ['id'], { name: 'proxies_tenant_fk' })
@Unique('proxies_key_hash_unique', ['keyHash'])
@Index('proxies_newest', { synchronize: false })
@Index('proxies_slug_unique', { synchronize: false })
@Index('proxies_request_bundle', { synchronize: false })
@Index('proxies_response_bundle', { synchronize: false })
export class Proxy extends Resource {
  static readonly noun = 'proxy';
  static readonly kind = 'proxy';

  /** Sealed rather than hashed, because it is shown again, unlike an API key. */
  @Column('bytea')
  key!: Buffer;

  @Column('text', { name: 'key_hash' })
  keyHash!: string;

  @Column('text', { name: 'destination_url' })
  destinationUrl!: string;

  @Column('boolean', { name: 'require_auth' })
  requireAuth!: boolean;

  @Column('boolean')
  detokenize!: boolean;

  @Column('boolean', { default: false })
  scrub!: boolean;

  @Column('jsonb', { name: 'request_transform', nullable: true })
  requestTransform!: TransformEntry | null;

  @Column('jsonb', { name: 'response_transform', nullable: true })
  responseTransform!: TransformEntry | null;

  /** Sealed: the steps of request and response; null without steps. */
  @Column('bytea', { nullable: true })
  steps!: Buffer | null;

  @Column('uuid', { name: 'application_id', nullable: true })
  applicationId!: string | null;

  /** Sealed: a map of names to strings. */
  @Column('bytea', { nullable: true })
  configuration!: Buffer | null;

  /** Sealed: client certificate, private key, certificate authority. */
  @Column('bytea', { nullable: true })
  tls!: Buffer | null;

  @Column('text')
  isolation!: Isolation;

  @Column('integer', { name: 'timeout_ms', nullable: true })
  timeoutMs!: number | null;

  @Column('text', { array: true, name: 'allowed_origins', default: () => "'{}'" })
  allowedOrigins!: string[];

  @Column('jsonb', { nullable: true })
  match!: StoredMatch | null;

  /** Names the kinds of requests that it matches. No other proxy of the tenant shares one. */
  @Column('text', { array: true, name: 'match_keys', default: () => "'{}'" })
  matchKeys!: string[];

  @Column('text', { name: 'forward_to', nullable: true })
  forwardTo!: 'request' | null;
}
