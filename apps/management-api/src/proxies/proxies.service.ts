import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Actor, generateProxyKey } from '@glovebox/access';
import { dropCaptures } from '@glovebox/captures';
import {
  isDefined,
  matchKeysOf,
  type ProxyDefinition,
  type TlsDefinition,
  type TransformDefinition,
} from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import { offeredNames } from '@glovebox/sandbox';
import type { Place } from '@glovebox/seal';
import { referenceToPatch, usableApplication } from '../applications/usable-application';
import { change, type Author, type ChangeOutcome } from '../changes/change';
import { changeRow } from '../changes/change-row';
import { openConfiguration, sealConfiguration, toConfiguration } from '../code/configuration';
import { shownTo } from '../console/shown-to';
import { Context, type ManagementContext } from '../context';
import { asSql } from '../database/in-tenant';
import { listResources } from '../lists/list-resources';
import type { ListQuery } from '../lists/listing';
import type { Page } from '../lists/page';
import { defaultRuntime } from '../code/code-members';
import {
  checkGiven,
  givenCode,
  holdBundles,
  isSameCode,
  requiredCode,
  toRunnableCode,
  withoutReplacedIn,
} from '../code/stored-code';
import { modifiedNow, newRow } from '../changes/created-and-modified';
import { slugAfter } from '../changes/slug';
import { patchedDto, type MergePatch } from '../validation/patched-dto';
import {
  ProxyInput,
  toProxyInput,
  toProxyResponse,
  type OpenedColumns,
  type ProxyResponse,
  type TransformInput,
} from './proxies.dto';
import { Proxy, type TransformEntry } from '../entities/proxy.entity';
import { toMatch, toMatchDefinition } from './proxy-match';
import { withKeptValues } from './kept-values';
import { openTls, sealTls, toTls } from './tls-material';
import {
  openSteps,
  sealSteps,
  toSteps,
  whyActs,
  withoutSteps,
  type Steps,
} from './transform-steps';

type ShownProxy = ReturnType<typeof shownTo<ProxyResponse>>;

@Injectable()
export class ProxiesService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(author: Author, input: ProxyInput): Promise<ShownProxy> {
    return change(this.ctx, author, 'create', (manager) =>
      this.insert(manager, author, { ...newRow(author), key: generateProxyKey() }, input),
    );
  }

  async insert(
    manager: EntityManager,
    author: Author,
    { key, ...made }: ReturnType<typeof newRow> & { readonly key: string },
    input: ProxyInput,
  ): Promise<ChangeOutcome<ShownProxy>> {
    this.#checkDestination(input.destination_url);
    this.#checkCode(input);
    const { sealer, keyHash } = this.ctx;
    const row = { ...made, applicationId: null };
    const { columns, secrets } = await this.decide(manager, author, row, input, null);
    await holdBundles(asSql(manager), row.tenantId, bundlesOf(columns));
    const proxy = manager.create(Proxy, {
      ...row,
      ...columns,
      slug: input.slug ?? null,
      key: await sealer.seal(placeOf(row, 'key'), key),
      keyHash: keyHash(key),
    });
    await manager.insert(Proxy, proxy);
    return {
      result: shownTo(author, toProxyResponse(proxy, { key, ...secrets }, 'created')),
      definitions: [toProxyDefinition(proxy, secrets)],
    };
  }

  list(actor: Actor, query: ListQuery): Promise<Page> {
    const { tenantId } = actor.principal;
    return listResources(this.ctx.dataSource, Proxy, tenantId, query, (row) =>
      this.show(actor, row),
    );
  }

  /** The key of a proxy opens it: a person sees it once, where they make it. */
  async show({ principal }: Actor, proxy: Proxy): Promise<Partial<ShownProxy>> {
    const answer = shownTo(principal, toProxyResponse(proxy, await this.open(proxy), 'read'));
    if (principal.type !== 'person') return answer;
    const { key: _, ...shown } = answer;
    return shown;
  }

  async update(author: Author, id: string, input: ProxyInput): Promise<ShownProxy> {
    const row = { entity: Proxy, id };
    return changeRow(this.ctx, author, 'update', row, async (manager, proxy) =>
      this.replace(manager, author, { proxy, opened: await this.open(proxy) }, input),
    );
  }

  async patch(author: Author, id: string, patch: MergePatch): Promise<void> {
    const row = { entity: Proxy, id };
    await changeRow(this.ctx, author, 'update', row, async (manager, proxy) => {
      const opened = await this.open(proxy);
      const document = {
        ...withoutReplacedIn(toProxyInput(proxy, opened), patch, sides),
        ...referenceToPatch(patch, proxy.applicationId),
      };
      const input = patchedDto(ProxyInput, document, patch);
      if (!input) return { result: undefined };
      requireCodeOf(input);
      if (author.person) Object.assign(input, withKeptValues(input, opened.steps).lists);
      return this.replace(manager, author, { proxy, opened }, input, patch);
    });
  }

  async remove(author: Author, id: string): Promise<void> {
    const row = { entity: Proxy, id };
    await changeRow(this.ctx, author, 'delete', row, (manager, proxy) =>
      this.erase(manager, proxy),
    );
  }

  /** The whole deletion, within a transaction that holds the row. */
  async erase(manager: EntityManager, proxy: Proxy): Promise<ChangeOutcome<undefined>> {
    const { id, tenantId } = proxy;
    await manager.remove(proxy);
    const sql = asSql(manager);
    await dropCaptures(sql, tenantId, id);
    const kinds = (await isDefined(sql, 'capture', id))
      ? (['proxy', 'capture'] as const)
      : ['proxy' as const];
    return {
      result: undefined,
      deletions: kinds.map((kind) => ({ kind, id })),
      lines: [{ operation: 'proxy.delete', entityType: 'proxy', entityIds: [id] }],
      formerCode: codesOf(proxy).flatMap((entry) => entry ?? []),
    };
  }

  /** The steps that are stored for a proxy. */
  async stepsOf(proxy: Proxy): Promise<Steps> {
    if (!proxy.steps) return withoutSteps;
    return openSteps(this.ctx.sealer, placeOf(proxy, 'steps'), proxy.steps);
  }

  /** The proxy that the document would make, as far as messages depend on it. */
  unsaved(
    { id, tenantId }: Pick<Proxy, 'id' | 'tenantId'>,
    input: ProxyInput,
    path: string,
  ): ProxyDefinition {
    this.#checkDestination(input.destination_url, path);
    this.#checkCode(input, path);
    return {
      ...{ kind: 'proxy', id, tenantId, keyHash: '' },
      ...{ destinationUrl: input.destination_url, requireAuth: true },
      detokenize: input.detokenize ?? true,
      requestTransform: toTransformDefinition(toTransformEntry(input.request_transform)),
      responseTransform: toTransformDefinition(toTransformEntry(input.response_transform)),
      ...toSteps(input, this.ctx.headers),
      configuration: input.configuration ? toConfiguration(input.configuration) : {},
      ...{ applicationId: null, isolation: 'run', timeoutMs: null, tls: null, allowedOrigins: [] },
      ...(input.scrub ? { scrub: true } : {}),
      ...{ match: null, forwardTo: null },
    };
  }

  /** The whole update, within a transaction that holds the row. */
  async replace(
    manager: EntityManager,
    author: Author,
    { proxy, opened }: { proxy: Proxy; opened: OpenedColumns },
    input: ProxyInput,
    patch?: MergePatch,
  ): Promise<ChangeOutcome<ShownProxy>> {
    if (!patch) for (const side of sides) keepBundle(proxy, input, side);
    this.#checkCode(input);
    // A policy that has changed since must not keep other members from being changed.
    if (input.destination_url !== proxy.destinationUrl) {
      this.#checkDestination(input.destination_url);
    }
    const { columns, secrets } = await this.decide(manager, author, proxy, input, opened.tls);
    const before = codesOf(proxy);
    const slug = slugAfter(proxy.slug, input, patch);
    Object.assign(proxy, columns, modifiedNow(author), { slug });
    const after = codesOf(proxy);
    const isChanged = (at: number): boolean => !isSameCode(before[at] ?? null, after[at] ?? null);
    const changed = bundlesOf(proxy).filter((_, at) => isChanged(at));
    await holdBundles(asSql(manager), proxy.tenantId, changed);
    await manager.save(proxy);
    return {
      result: shownTo(author, toProxyResponse(proxy, { key: opened.key, ...secrets }, 'read')),
      definitions: [toProxyDefinition(proxy, secrets)],
      formerCode: before.flatMap((code, at) => (isChanged(at) ? (code ?? []) : [])),
    };
  }

  /** The columns that a document sets, with defaults for the members that it omits. */
  async decide(
    manager: EntityManager,
    author: Author,
    proxy: Pick<Proxy, 'id' | 'tenantId' | 'applicationId'>,
    input: ProxyInput,
    storedTls: TlsDefinition | null,
  ) {
    const { applicationId, errors } = await usableApplication(
      manager,
      author,
      input,
      proxy.applicationId,
    );
    if (Object.keys(errors).length > 0) throw invalid(errors);
    const configuration = input.configuration ? toConfiguration(input.configuration) : null;
    const tls = toTls(input, storedTls);
    const { sealer, headers } = this.ctx;
    const steps = toSteps(input, headers);
    const acting = applicationId === null && whyActs(steps);
    if (acting) throw invalid({ 'application.id': [`is required by a step that ${acting}`] });
    const { require_auth = true, allowed_origins = [] } = input;
    if (require_auth && allowed_origins.length > 0) {
      throw invalid({ allowed_origins: ['must be left out unless require_auth is false'] });
    }
    const match = toMatch(input.match);
    const forwardTo = input.forward_to ?? null;
    if (forwardTo && !match) throw invalid({ forward_to: ['must be left out without match'] });
    const hasSteps = steps.requestSteps.length + steps.responseSteps.length > 0;
    const columns = {
      name: input.name,
      destinationUrl: input.destination_url,
      requireAuth: require_auth,
      detokenize: input.detokenize ?? true,
      scrub: input.scrub ?? false,
      requestTransform: toTransformEntry(input.request_transform),
      responseTransform: toTransformEntry(input.response_transform),
      applicationId,
      configuration:
        configuration &&
        (await sealConfiguration(sealer, placeOf(proxy, 'configuration'), configuration)),
      tls: tls && (await sealTls(sealer, placeOf(proxy, 'tls'), tls)),
      steps: hasSteps ? await sealSteps(sealer, placeOf(proxy, 'steps'), steps) : null,
      isolation: input.isolation ?? 'warm',
      timeoutMs: input.timeout_ms ?? null,
      allowedOrigins: allowed_origins,
      match,
      matchKeys: match ? matchKeysOf(toMatchDefinition(match)) : [],
      forwardTo,
    };
    return { columns, secrets: { configuration, tls, steps } };
  }

  async open(proxy: Proxy): Promise<OpenedColumns> {
    const { sealer } = this.ctx;
    const [key, configuration, tls, steps] = await Promise.all([
      sealer.open(placeOf(proxy, 'key'), proxy.key),
      proxy.configuration &&
        openConfiguration(sealer, placeOf(proxy, 'configuration'), proxy.configuration),
      proxy.tls && openTls(sealer, placeOf(proxy, 'tls'), proxy.tls),
      this.stepsOf(proxy),
    ]);
    return { key: key.toString('utf8'), configuration, tls, steps };
  }

  /** Refuses what the egress policy forbids already. Names are checked again on every call. */
  #checkDestination(url: string, path = ''): void {
    const fault = this.ctx.egress.faultOfUrl(url, { isAscii: true });
    if (fault !== undefined) throw invalid({ [`${path}destination_url`]: [fault] });
  }

  #checkCode(input: ProxyInput, path = ''): void {
    const offered = offeredNames(this.ctx.config);
    for (const side of sides) {
      const place = `${path}${side}.`;
      const code = input[side] && givenCode(input[side], place);
      if (code) checkGiven(code, place, offered);
    }
  }
}

function placeOf(
  { id, tenantId }: Pick<Proxy, 'id' | 'tenantId'>,
  column: 'key' | 'configuration' | 'tls' | 'steps',
): Place {
  return { table: 'proxies', column, tenantId, record: id };
}

/** A run names its side, so code that moves to the other side goes out of force here. */
const codesOf = ({
  requestTransform,
  responseTransform,
}: Pick<Proxy, 'requestTransform' | 'responseTransform'>): (TransformEntry | null)[] => [
  requestTransform,
  responseTransform,
];

const sides = ['request_transform', 'response_transform'] as const;

/** Beside a POST or PUT, a transform without code is a mistake. */
export function requireCodeOf(input: ProxyInput): void {
  for (const side of sides) if (input[side]) requiredCode(input[side], `${side}.`);
}

const bundlesOf = (columns: Parameters<typeof codesOf>[0]) =>
  codesOf(columns).map((entry, at) => [`${sides[at]}.`, entry] as const);

/** A client that knows nothing of bundles sends a transform without code: the stored one stays. */
function keepBundle(proxy: Proxy, input: ProxyInput, side: (typeof sides)[number]): void {
  const given = input[side];
  const stored = side === 'request_transform' ? proxy.requestTransform : proxy.responseTransform;
  if (!given || stored?.code_sha256 === undefined || givenCode(given, `${side}.`)) return;
  given.code_sha256 = stored.code_sha256;
  if (stored.runtime !== undefined) given.runtime ??= stored.runtime;
}

/** A transform without code counts as none. */
function toTransformEntry(input: TransformInput | undefined): TransformEntry | null {
  const code = input && givenCode(input, '');
  if (!code) return null;
  const { runtime } = input;
  return { ...code, ...(runtime === undefined ? {} : { runtime }) };
}

function toProxyDefinition(
  proxy: Proxy,
  { configuration, tls, steps }: Omit<OpenedColumns, 'key'>,
): ProxyDefinition {
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
    ...steps,
    applicationId: proxy.applicationId,
    configuration: configuration ?? {},
    isolation: proxy.isolation,
    timeoutMs: proxy.timeoutMs,
    tls,
    allowedOrigins: proxy.allowedOrigins,
    ...(proxy.scrub ? { scrub: true } : {}),
    match: proxy.match && toMatchDefinition(proxy.match),
    forwardTo: proxy.forwardTo,
  };
}

function toTransformDefinition(entry: TransformEntry | null): TransformDefinition | null {
  if (!entry) return null;
  return toRunnableCode(entry, entry.runtime ?? defaultRuntime);
}
