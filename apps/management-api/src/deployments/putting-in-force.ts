import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { generateProxyKey, type Permission, type Principal } from '@glovebox/access';
import type { Definition } from '@glovebox/definitions';
import { invalid, Problem } from '@glovebox/problems';
import {
  applicationColumns,
  checkGrants,
  replaceApplication,
} from '../applications/applications.service';
import { insertApplication, toApplicationDefinition } from '../applications/issue-application';
import { refuseUsed } from '../applications/users-of-application';
import type { AuditLine, Author, ChangeOutcome } from '../changes/change';
import type { CodeMembers } from '../code/stored-code';
import { newRow } from '../changes/created-and-modified';
import { ApplicationKey } from '../entities/application-key.entity';
import { Application } from '../entities/application.entity';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { Proxy } from '../entities/proxy.entity';
import { Reactor } from '../entities/reactor.entity';
import { withKeptValues } from '../proxies/kept-values';
import { ProxyInput } from '../proxies/proxies.dto';
import { requireCodeOf, type ProxiesService } from '../proxies/proxies.service';
import { withoutSteps } from '../proxies/transform-steps';
import { codeOfFormula } from '../reactor-formulas/reactor-formulas.dto';
import {
  formulaColumns,
  type ReactorFormulasService,
} from '../reactor-formulas/reactor-formulas.service';
import { CreateReactor } from '../reactors/reactors.dto';
import type { ReactorsService } from '../reactors/reactors.service';
import type { Deployed } from './deployed-set';
import type {
  DeployedApplication,
  DeployedConfiguration,
  DeployedItem,
  DeployedKind,
  DeployedProxy,
  DeployedReactor,
  ItemChange,
  ItemConflict,
} from './deployments.dto';
import {
  differingMembers,
  documentOfApplication,
  documentOfFormula,
  documentOfProxy,
  documentOfReactor,
  shownMembers,
  type Document,
} from './documents';
import { ItemFaults, type Former, type Wanted } from './read-items';
import {
  lockStanding,
  type Standing,
  type StandingApplication,
  type StandingProxy,
  type StandingReactor,
} from './standing';

export interface Putting {
  readonly formulas: ReactorFormulasService;
  readonly reactors: ReactorsService;
  readonly proxies: ProxiesService;
  readonly manager: EntityManager;
  readonly author: Author;
  /** Whose files these are. */
  readonly project: string | undefined;
  /** What files of all projects have put in force so far. */
  readonly deployed: readonly Deployed[];
  readonly tagOf: (standing: Pick<Standing, 'id' | 'version'>) => string;
  readonly isForced: boolean;
  /** The caller may also change applications one by one. */
  readonly mayGrant: boolean;
}

/** A resource as it is after its item. */
interface Put {
  readonly id: string;
  readonly document: Document;
  readonly formulaId?: string;
  readonly key?: string;
}

/** A deployment holds locks on what it changes. */
const withinMs = 25_000;
const shownConflictsMax = 20;
const managedMax = 500;

const order: readonly DeployedKind[] = ['application', 'reactor', 'proxy'];
const readPermissions: Readonly<Record<DeployedKind, Permission>> = {
  application: 'application:read',
  reactor: 'reactor:read',
  proxy: 'proxy:read',
};

/** One deployment, within its transaction. A conflict ends it only when all are known. */
export class PuttingInForce {
  readonly #began = performance.now();
  readonly #faults = new ItemFaults();
  readonly #conflicts: (ItemConflict & {
    readonly shown: Pick<ItemConflict, 'deployed' | 'current'>;
  })[] = [];
  readonly #changes: ItemChange[] = [];
  readonly #items: Deployed[] = [];
  readonly #definitions: Definition[] = [];
  readonly #deletions: Pick<Definition, 'kind' | 'id'>[] = [];
  readonly #formerCode: CodeMembers[] = [];
  readonly #lines = new Map<string, AuditLine & { readonly entityIds: string[] }>();
  /** Ids of applications by their slugs: those that stand and those that are made. */
  readonly #applications = new Map<string, string>();
  readonly #pruned = new Set<Deployed>();

  private constructor(
    private readonly putting: Putting,
    private readonly wanted: readonly Wanted[],
    private readonly standing: readonly Standing[],
  ) {
    for (const one of standing) {
      if (one.kind === 'application' && one.slug !== null) this.#applications.set(one.slug, one.id);
    }
  }

  static async begin(putting: Putting, wanted: readonly Wanted[]): Promise<PuttingInForce> {
    const { manager, author, deployed } = putting;
    const named = [
      ...deployed,
      ...wanted.map(({ slug, dto, former }) => ({
        ...{ kind: dto.kind, slug, id: (former?.id ?? dto.id)?.toLowerCase() },
      })),
      ...wanted.flatMap(({ dto }) => {
        const slug = 'application' in dto ? dto.application?.slug : undefined;
        return slug === undefined ? [] : [{ kind: 'application' as const, slug, id: undefined }];
      }),
    ];
    const standing = await lockStanding(putting, manager, author.tenantId, named);
    return new PuttingInForce(putting, wanted, standing);
  }

  /** Applications come first, because reactors and proxies refer to them. */
  async put(): Promise<void> {
    for (const kind of order) {
      for (const wanted of this.wanted) {
        if (wanted.dto.kind !== kind) continue;
        this.#refuseLate();
        await this.#faults.of(wanted.place, () => this.#putItem(wanted));
      }
    }
    this.#faults.refuse();
  }

  /** Deletes what files of the project have put in force before and are without now. */
  async prune(): Promise<void> {
    for (const kind of order.toReversed()) {
      for (const deployed of this.#left()) {
        const standing = this.standing.find(({ id }) => id === deployed.id);
        const isOfProject = deployed.project === this.putting.project;
        if (deployed.kind !== kind || !standing || !isOfProject) continue;
        this.#refuseLate();
        this.#lookForConflict(standing, deployed, undefined, undefined);
        await this.#remove(standing);
        this.#pruned.add(deployed);
        const { slug, id } = deployed;
        this.#changes.push({ kind, slug, id, change: 'pruned' });
      }
    }
  }

  /** Counts what is left: a prune may lower a number that is too high on the way. */
  refuseTooMany(): void {
    if (this.#allItems().length > managedMax) throw tooMany();
  }

  /** Nothing is written where somebody else has written: the transaction ends here. */
  refuseConflicts({ permissions }: Principal): void {
    if (this.#conflicts.length === 0) return;
    const conflicts = this.#conflicts.slice(0, shownConflictsMax).map(({ shown, ...conflict }) => ({
      ...conflict,
      ...(permissions.includes(readPermissions[conflict.kind]) ? shown : {}),
    }));
    const number = this.#conflicts.length;
    throw new Problem('deployment_conflict', {
      detail:
        `Resources that were changed since they were deployed: ${number}. Send their \`etag\` with ` +
        'the item, or `force`, to overwrite them.',
      conflicts,
    });
  }

  /** Whether files have put in force the same resources as before. */
  get leavesDeployed(): boolean {
    return isDeepStrictEqual(inOrder(this.#allItems()), inOrder(this.putting.deployed));
  }

  done() {
    return {
      items: this.#allItems(),
      changes: this.#changes,
      definitions: this.#definitions,
      deletions: this.#deletions,
      formerCode: this.#formerCode,
      lines: [...this.#lines.values()],
    };
  }

  #refuseLate(): void {
    if (performance.now() - this.#began > withinMs) throw takesTooLong();
  }

  async #putItem(wanted: Wanted): Promise<void> {
    const { slug, dto } = wanted;
    const { kind } = dto;
    const deployed = this.putting.deployed.find((one) => one.kind === kind && one.slug === slug);
    const named = [(wanted.former?.id ?? dto.id)?.toLowerCase(), deployed?.id];
    const ofKind = this.standing.filter((one) => one.kind === kind);
    const standing =
      ofKind.find((one) => one.slug === slug) ??
      named.flatMap((id) => ofKind.find((one) => one.id === id) ?? [])[0];
    if (standing && dto.id !== undefined && standing.id !== dto.id.toLowerCase()) {
      throw invalid({ id: [`is not that of the ${kind} with this slug`] });
    }
    if (standing && this.#items.some(({ id }) => id === standing.id)) {
      throw invalid({ id: [`is that of a ${kind} which another item names`] });
    }
    const known = deployed ?? this.putting.deployed.find(({ id }) => id === standing?.id);
    const put = await this.#putKind(standing, dto, slug, wanted.former);
    this.#lookForConflict(standing, known, dto.etag, put.document);
    const { project } = this.putting;
    this.#items.push({ kind, slug, ...(project === undefined ? {} : { project }), ...put });
    const members = standing && differingMembers(standing.document, put.document);
    this.#changes.push({
      ...{ kind, slug, id: put.id },
      change: !members ? 'created' : members.length === 0 ? 'unchanged' : 'updated',
      ...(members && members.length > 0 ? { members } : {}),
      ...(standing ? { etag: this.putting.tagOf(standing) } : {}),
    });
  }

  #putKind(
    standing: Standing | undefined,
    dto: DeployedItem,
    slug: string,
    former: Former | undefined,
  ): Promise<Put> {
    switch (dto.kind) {
      case 'application':
        return this.#putApplication(standing as StandingApplication | undefined, dto, slug, former);
      case 'reactor':
        return this.#putReactor(standing as StandingReactor | undefined, dto, former);
      case 'proxy':
        return this.#putProxy(standing as StandingProxy | undefined, dto, former);
    }
  }

  /** An application is made without a key, and one with keys keeps its rights: who may deploy must get none. */
  async #putApplication(
    standing: StandingApplication | undefined,
    dto: DeployedApplication,
    slug: string,
    former: Former | undefined,
  ): Promise<Put> {
    const { manager, author } = this.putting;
    if (!standing) {
      checkGrants(dto.type, dto);
      const input = { ...applicationColumns(dto), type: dto.type, slug };
      const made = await insertApplication(manager, newRow(author, former?.id), input);
      this.#applications.set(slug, made.id);
      this.#took('create', { definitions: [toApplicationDefinition(made, [])] });
      return { id: made.id, document: documentOfApplication(made) };
    }
    const { row, id } = standing;
    this.#applications.set(slug, id);
    if (row.type === 'management') {
      throw invalid({ slug: ['is that of a management application, which is not deployed'] });
    }
    const after = Object.assign(new Application(), row, applicationColumns(dto), { slug });
    const document = documentOfApplication(after);
    const members = differingMembers(standing.document, document);
    if (members.length > 0 || dto.type !== row.type) {
      if (members.some(isOfRights)) await this.#requireGrant(row);
      this.#took('update', await replaceApplication(manager, author, row, dto));
    }
    return { id, document };
  }

  /** Somebody who holds a key of the application, and may deploy, would raise themselves. */
  async #requireGrant({ id, name }: Application): Promise<void> {
    const { manager, mayGrant } = this.putting;
    if (mayGrant || !(await manager.existsBy(ApplicationKey, { applicationId: id }))) return;
    throw new Problem('permission_denied', {
      detail: `The application ${name} has keys: to change its rights application:update is needed as well.`,
    });
  }

  async #putReactor(
    standing: StandingReactor | undefined,
    dto: DeployedReactor,
    former: Former | undefined,
  ): Promise<Put> {
    const { manager, author, reactors } = this.putting;
    const formula = await this.#putFormula(standing, dto, former);
    const configuration = configurationOf(dto.configuration ?? {}, standing?.configuration ?? {});
    const { name, slug = '', isolation = 'warm' } = dto;
    const reference = this.#reference(dto);
    const input = Object.assign(new CreateReactor(), reference, {
      ...{ name, slug, isolation, configuration, formula: { id: formula.id } },
    });
    const made = newRow(author, former?.id);
    const after = Object.assign(new Reactor(), standing?.row ?? made, {
      ...{ name, slug, isolation, applicationId: reference.application_id ?? null },
    });
    const document = documentOfReactor(after, configuration, formula.document);
    if (!standing) {
      this.#took('create', await reactors.insert(manager, author, made, input, formula.row));
    } else if (differingMembers(standing.document, document).some(isOfReactor)) {
      this.#took('update', await reactors.replace(manager, author, standing.row, input));
    }
    return { id: after.id, formulaId: formula.id, document };
  }

  async #putFormula(
    standing: StandingReactor | undefined,
    { formula: dto }: DeployedReactor,
    former: Former | undefined,
  ): Promise<{ readonly id: string; readonly row: ReactorFormula; readonly document: Document }> {
    const { manager, author, formulas } = this.putting;
    const made = newRow(author, former?.formulaId);
    const before = standing?.formula;
    const after = Object.assign(new ReactorFormula(), before ?? made, formulaColumns(dto));
    const document = documentOfFormula(after);
    const work = async (): Promise<void> => {
      if (!standing || !before) {
        this.#took('create', await formulas.insert(manager, made, dto));
      } else if (!isDeepStrictEqual(document, documentOfFormula(before))) {
        await refuseShared(manager, standing);
        this.#took('update', await formulas.replace(manager, author, before, dto));
      }
    };
    await work().catch((error: unknown) => {
      throw within('formula', error);
    });
    return { id: after.id, row: after, document };
  }

  async #putProxy(
    standing: StandingProxy | undefined,
    dto: DeployedProxy,
    former: Former | undefined,
  ): Promise<Put> {
    const { manager, author, proxies } = this.putting;
    requireCodeOf(dto);
    const { configuration: wished, application: _, application_id: __, ...members } = dto;
    const configuration = wished && configurationOf(wished, standing?.opened.configuration ?? {});
    const { lists } = withKeptValues(members, standing?.opened.steps ?? withoutSteps);
    const input = Object.assign(new ProxyInput(), members, lists, this.#reference(dto), {
      ...(configuration === undefined ? {} : { configuration }),
    });
    const key = standing?.opened.key ?? former?.key ?? generateProxyKey();
    const made = { ...newRow(author, former?.id), applicationId: null };
    const row = standing?.row ?? made;
    const tls = standing?.opened.tls ?? null;
    const { columns, secrets } = await proxies.decide(manager, author, row, input, tls);
    const after = Object.assign(new Proxy(), row, columns, { slug: dto.slug });
    const document = documentOfProxy(after, { key, ...secrets });
    if (!standing) {
      this.#took('create', await proxies.insert(manager, author, { ...made, key }, input));
    } else if (!isDeepStrictEqual(document, standing.document)) {
      const proxy = { proxy: standing.row, opened: standing.opened };
      this.#took('update', await proxies.replace(manager, author, proxy, input));
    }
    return { id: after.id, key, document };
  }

  #reference({ application, application_id }: DeployedReactor | DeployedProxy): {
    application_id?: string;
  } {
    const id = (application?.id ?? application_id)?.toLowerCase();
    if (application?.slug === undefined) return id === undefined ? {} : { application_id: id };
    const named = this.#applications.get(application.slug);
    if (named !== undefined && (id === undefined || id === named)) return { application_id: named };
    throw invalid({ 'application.slug': ['must be that of an application of the tenant'] });
  }

  async #remove(standing: Standing): Promise<void> {
    const { manager, proxies } = this.putting;
    const { id, kind } = standing;
    if (kind === 'proxy') return this.#took('delete', await proxies.erase(manager, standing.row));
    if (kind === 'application') {
      await refuseUsed(manager, standing.row);
      await manager.delete(Application, { id });
      return this.#took('delete', { deletions: [{ kind, id }] });
    }
    await manager.delete(Reactor, { id });
    const { formula } = standing;
    this.#took('delete', { deletions: [{ kind, id }], formerCode: [codeOfFormula(formula)] });
    if (await manager.existsBy(Reactor, { formulaId: formula.id })) return;
    await manager.delete(ReactorFormula, { id: formula.id });
    this.#took('delete', { deletions: [{ kind: 'formula', id: formula.id }] });
  }

  /** What stands may be overwritten if files of the project put it there, or its version is named. */
  #lookForConflict(
    standing: Standing | undefined,
    deployed: Deployed | undefined,
    etag: string | undefined,
    wanted: Document | undefined,
  ): void {
    if (this.putting.isForced || (!standing && !deployed)) return;
    const current = standing?.document;
    const { kind, slug, id } = deployed ?? (standing as Standing);
    const owner = deployed?.project;
    // What a folder without a name has put there, the folder takes along into its project.
    const isOfOther = standing && owner !== undefined && owner !== this.putting.project;
    const isSame = (other: Document | undefined): boolean =>
      current !== undefined && other !== undefined && isDeepStrictEqual(current, other);
    const isSeen = standing !== undefined && etag === this.putting.tagOf(standing);
    if (isSeen || (!isOfOther && (isSame(deployed?.document) || isSame(wanted)))) return;
    const before = deployed?.document;
    // A resource that files take over for the first time has no other slug to lose.
    const members = differingMembers(current ?? {}, before ?? wanted ?? {}).filter(
      (member) => before !== undefined || member !== 'slug',
    );
    if (before === undefined && members.length === 0) return;
    this.#conflicts.push({
      ...{ kind, slug: slug ?? '', id, members },
      ...(isOfOther ? { project: owner } : {}),
      ...(standing ? { etag: this.putting.tagOf(standing) } : {}),
      shown: {
        ...(before ? { deployed: shownMembers(before, members) } : {}),
        ...(current ? { current: shownMembers(current, members) } : {}),
      },
    });
  }

  #took(action: 'create' | 'update' | 'delete', outcome: Partial<ChangeOutcome<unknown>>): void {
    const { definitions = [], deletions = [], formerCode = [] } = outcome;
    this.#definitions.push(...definitions);
    this.#deletions.push(...deletions);
    this.#formerCode.push(...formerCode);
    for (const { kind, id } of [...definitions, ...deletions]) {
      // The switch of a capture goes with its proxy, and has no line of its own.
      if (kind === 'capture') continue;
      const operation = `${kind}.${action}`;
      const line = this.#lines.get(operation);
      if (line) line.entityIds.push(id);
      else this.#lines.set(operation, { operation, entityType: kind, entityIds: [id] });
    }
  }

  /** What files have put in force before, that stands, and that no item names. */
  #left(): Deployed[] {
    const put = new Set(this.#items.map(({ id }) => id));
    const stands = new Set(this.standing.map(({ id }) => id));
    return this.putting.deployed.filter(
      (one) => !put.has(one.id) && stands.has(one.id) && !this.#pruned.has(one),
    );
  }

  #allItems(): Deployed[] {
    return [...this.#items, ...this.#left()];
  }
}

const isOfRights = (member: string): boolean => member !== 'name' && member !== 'slug';

const isOfReactor = (member: string): boolean => !member.startsWith('formula.');

const inOrder = (items: readonly Deployed[]): unknown[] =>
  items
    .map((item) => JSON.parse(JSON.stringify(item)) as Deployed)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** Puts stored values in the place of those that are to be kept. */
function configurationOf(
  wished: DeployedConfiguration,
  stored: Readonly<Record<string, string>>,
): Record<string, string> {
  const errors: Record<string, string[]> = {};
  const values = Object.entries(wished).map(([name, value]) => {
    if (value !== null) return [name, String(value)] as const;
    const kept = Object.hasOwn(stored, name) ? stored[name] : undefined;
    if (kept === undefined) errors[`configuration.${name}`] = ['has no stored value to keep'];
    return [name, kept ?? ''] as const;
  });
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return Object.fromEntries(values);
}

/** A formula that other reactors share would change their code. */
async function refuseShared(
  manager: EntityManager,
  { row, formula }: StandingReactor,
): Promise<void> {
  const users = await manager.countBy(Reactor, { formulaId: formula.id });
  if (users <= 1) return;
  throw invalid({
    code: [`is that of a formula that ${users - 1} more reactors use, beside ${row.id}`],
  });
}

function within(member: string, error: unknown): unknown {
  if (!(error instanceof Problem) || !error.errors) return error;
  const errors = Object.fromEntries(
    Object.entries(error.errors).map(([name, texts]) => [`${member}.${name}`, texts]),
  );
  const { code, detail, position } = error;
  return new Problem(code, { ...(detail === undefined ? {} : { detail }), errors, position });
}

const takesTooLong = (): Problem =>
  new Problem('service_unavailable', {
    detail: 'The deployment took too long, and nothing of it is in force.',
    retryAfterSeconds: 5,
  });

const tooMany = (): Problem =>
  new Problem('conflict', {
    detail: `Files may have at most ${managedMax} resources in force: prune what they are without.`,
  });
