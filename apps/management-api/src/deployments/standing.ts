import type { EntityManager } from 'typeorm';
import { asSql } from '../database/in-tenant';
import { Application } from '../entities/application.entity';
import { Proxy } from '../entities/proxy.entity';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { Reactor } from '../entities/reactor.entity';
import type { Resource, ResourceEntity } from '../entities/resource.entity';
import type { ProxiesService } from '../proxies/proxies.service';
import type { OpenedColumns } from '../proxies/proxies.dto';
import type { ReactorsService } from '../reactors/reactors.service';
import type { Configuration } from '../code/configuration';
import type { DeployedKind } from './deployments.dto';
import {
  documentOfApplication,
  documentOfFormula,
  documentOfProxy,
  documentOfReactor,
  type Document,
} from './documents';

interface Stands {
  readonly id: string;
  readonly slug: string | null;
  readonly document: Document;
  /** Tells this state from any other: of a reactor, with its formula. */
  readonly version: string;
}

export interface StandingApplication extends Stands {
  readonly kind: 'application';
  readonly row: Application;
}
export interface StandingReactor extends Stands {
  readonly kind: 'reactor';
  readonly row: Reactor;
  readonly formula: ReactorFormula;
  readonly configuration: Configuration;
}
export interface StandingProxy extends Stands {
  readonly kind: 'proxy';
  readonly row: Proxy;
  readonly opened: OpenedColumns;
}
export type Standing = StandingApplication | StandingReactor | StandingProxy;

/** Names resources: those of the kind with such a slug or id. */
export interface Named {
  readonly kind: DeployedKind;
  readonly slug: string;
  readonly id: string | undefined;
}

/**
 * Locks the named resources, and reads what is in force of them. Rows that refer to others come first,
 * as in every change: it locks a reactor, then its formula and its application.
 */
export async function lockStanding(
  { reactors, proxies }: { readonly reactors: ReactorsService; readonly proxies: ProxiesService },
  manager: EntityManager,
  tenantId: string,
  named: readonly Named[],
): Promise<Standing[]> {
  const of = (kind: DeployedKind) => named.filter((one) => one.kind === kind);
  const reactorRows = await lockNamed(manager, Reactor, tenantId, of('reactor'));
  const proxyRows = await lockNamed(manager, Proxy, tenantId, of('proxy'));
  const formulaIds = reactorRows.map(({ formulaId: id }) => ({ slug: '', id }));
  const formulaRows = await lockNamed(manager, ReactorFormula, tenantId, formulaIds);
  const applicationRows = await lockNamed(manager, Application, tenantId, of('application'));
  const versions = await versionsOf(manager, [
    ...[...reactorRows, ...proxyRows, ...formulaRows, ...applicationRows].map(({ id }) => id),
  ]);
  const versionOf = (id: string): string => versions.get(id) ?? '0';
  const formulas = new Map(formulaRows.map((formula) => [formula.id, formula]));
  const standing: Standing[] = applicationRows.map((row) => ({
    ...{ kind: 'application', id: row.id, slug: row.slug, row, version: versionOf(row.id) },
    document: documentOfApplication(row),
  }));
  for (const row of reactorRows) {
    const formula = formulas.get(row.formulaId);
    if (!formula) throw new Error('A reactor has no formula');
    const configuration = await reactors.configurationOf(row);
    const version = `${versionOf(row.id)} ${versionOf(formula.id)}`;
    const document = documentOfReactor(row, configuration, documentOfFormula(formula));
    const { id, slug } = row;
    standing.push({ kind: 'reactor', id, slug, row, formula, configuration, version, document });
  }
  for (const row of proxyRows) {
    const opened = await proxies.open(row);
    const document = documentOfProxy(row, opened);
    const { id, slug } = row;
    standing.push({ kind: 'proxy', id, slug, row, opened, version: versionOf(id), document });
  }
  return standing;
}

async function lockNamed<Entity extends ResourceEntity>(
  manager: EntityManager,
  entity: Entity,
  tenantId: string,
  named: readonly Pick<Named, 'slug' | 'id'>[],
): Promise<InstanceType<Entity>[]> {
  if (named.length === 0) return [];
  const rows: Resource[] = await manager
    .createQueryBuilder(entity, 'r')
    .where('r.tenantId = :tenantId AND (r.slug = ANY (:slugs) OR r.id = ANY (:ids))', {
      tenantId,
      slugs: named.map(({ slug }) => slug),
      ids: named.flatMap(({ id }) => id ?? []),
    })
    .orderBy('r.id')
    .setLock('pessimistic_write')
    .getMany();
  return rows as InstanceType<Entity>[];
}

async function versionsOf(
  manager: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await asSql(manager).query<{ id: string; version: string }>(
    `SELECT id, version FROM definition_log
     WHERE id = ANY ($1::uuid[]) AND kind = ANY ('{application,reactor,formula,proxy}')`,
    [ids],
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}
