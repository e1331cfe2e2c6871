import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { generateProxyKey } from '@glovebox/access';
import type { ProxyDefinition, TransformDefinition } from '@glovebox/definitions';
import { EgressRefused } from '@glovebox/egress';
import { invalid } from '@glovebox/problems';
import type { Place } from '@glovebox/seal';
import type { Actor } from '@glovebox/vault';
import { unusableApplication, usableApplication } from '../applications/usable-application';
import { authorOf, change } from '../change';
import {
  openConfiguration,
  sealConfiguration,
  toConfiguration,
  type Configuration,
} from '../configuration';
import { Context, type ManagementContext } from '../context';
import { checkCode, codeHash } from '../reactor-formulas/check-code';
import { defaultRuntime } from '../reactor-formulas/reactor-formulas.dto';
import {
  toProxyResponse,
  type CreateProxy,
  type ProxyResponse,
  type TransformInput,
} from './proxies.dto';
import { Proxy, type TransformEntry } from './proxy.entity';

@Injectable()
export class ProxiesService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(actor: Actor, input: CreateProxy): Promise<ProxyResponse> {
    this.#checkDestination(input.destination_url);
    this.#checkCode('request_transform', input.request_transform);
    this.#checkCode('response_transform', input.response_transform);
    const author = authorOf(actor);
    const { tenantId } = author;
    const { sealer, keyHash } = this.ctx;
    return change(this.ctx, author, 'create', async (manager) => {
      const application =
        input.application && (await usableApplication(manager, tenantId, input.application.id));
      if (input.application && !application) {
        throw invalid({ 'application.id': unusableApplication });
      }
      const id = randomUUID();
      const key = generateProxyKey();
      const configuration = input.configuration ? toConfiguration(input.configuration) : null;
      const proxy = manager.create(Proxy, {
        id,
        tenantId,
        name: input.name,
        key: await sealer.seal(placeOf(tenantId, id, 'key'), key),
        keyHash: keyHash(key),
        destinationUrl: input.destination_url,
        requireAuth: input.require_auth ?? true,
        detokenize: input.detokenize ?? true,
        requestTransform: toTransformEntry(input.request_transform),
        responseTransform: toTransformEntry(input.response_transform),
        applicationId: application?.id ?? null,
        configuration:
          configuration &&
          (await sealConfiguration(sealer, placeOf(tenantId, id, 'configuration'), configuration)),
        isolation: input.isolation ?? 'warm',
        timeoutMs: input.timeout_ms ?? null,
        createdBy: author.actorId,
        createdAt: new Date(),
        modifiedBy: null,
        modifiedAt: null,
      });
      await manager.insert(Proxy, proxy);
      return {
        result: toProxyResponse(proxy, { key, configuration }, 'created'),
        definitions: [toProxyDefinition(proxy, configuration ?? {})],
      };
    });
  }

  async show(proxy: Proxy): Promise<ProxyResponse> {
    const { id, tenantId } = proxy;
    const { sealer } = this.ctx;
    const [key, configuration] = await Promise.all([
      sealer.open(placeOf(tenantId, id, 'key'), proxy.key),
      proxy.configuration &&
        openConfiguration(sealer, placeOf(tenantId, id, 'configuration'), proxy.configuration),
    ]);
    return toProxyResponse(proxy, { key: key.toString('utf8'), configuration }, 'read');
  }

  /** What policy forbids already; names are judged again when they are called. */
  #checkDestination(url: string): void {
    try {
      this.ctx.egress.checkUrl(url);
    } catch (error) {
      if (error instanceof EgressRefused) throw invalid({ destination_url: [error.message] });
      throw error;
    }
  }

  #checkCode(member: string, transform: TransformInput | undefined): void {
    if (!transform) return;
    checkCode(transform.code, `${member}.code`, this.ctx.config.REACTOR_ERRORS_ALIASES);
  }
}

function placeOf(tenantId: string, record: string, column: 'key' | 'configuration'): Place {
  return { table: 'proxies', column, tenantId, record };
}

function toTransformEntry(input: TransformInput | undefined): TransformEntry | null {
  if (!input) return null;
  const { code, runtime } = input;
  return { code, ...(runtime === undefined ? {} : { runtime }) };
}

function toProxyDefinition(proxy: Proxy, configuration: Configuration): ProxyDefinition {
  return {
    kind: 'proxy',
    id: proxy.id,
    tenantId: proxy.tenantId,
    keyHash: proxy.keyHash,
    destinationUrl: proxy.destinationUrl,
    requireAuth: proxy.requireAuth,
    detokenize: proxy.detokenize,
    requestTransform: toTransformDefinition(proxy.requestTransform),
    responseTransform: toTransformDefinition(proxy.responseTransform),
    applicationId: proxy.applicationId,
    configuration,
    isolation: proxy.isolation,
    timeoutMs: proxy.timeoutMs,
  };
}

function toTransformDefinition(entry: TransformEntry | null): TransformDefinition | null {
  if (!entry) return null;
  const { code, runtime = defaultRuntime } = entry;
  return { code, codeHash: codeHash(code), runtime };
}
