import { pauses } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { isJsonObject, type JsonObject } from '@glovebox/wire';
import { toDto } from '../validation/body.pipe';
import {
  deployedItems,
  deployedKinds,
  deploymentItemsMax,
  type DeployedItem,
  type DeployedKind,
} from './deployments.dto';

/** An item with its place in the body, for messages. */
export interface Wanted {
  readonly place: string;
  readonly slug: string;
  readonly dto: DeployedItem;
  /** What a resource that is made again had before it was deleted. */
  readonly former?: Former | undefined;
}

export interface Former {
  readonly id: string;
  readonly formulaId?: string | undefined;
  /** Of a proxy. */
  readonly key?: string | undefined;
}

/** Gathers the faults of items, so that all of them are told at once. */
export class ItemFaults {
  readonly #errors: Record<string, string[]> = {};
  /** The first of another kind. */
  #problem: Problem | undefined;

  /** Runs the work on an item. Undefined: the item is at fault. */
  async of<Result>(place: string, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || !error.errors) throw error;
      for (const [member, texts] of Object.entries(error.errors)) {
        this.#errors[`${place}.${member}`] = [...texts];
      }
      if (error.code !== 'validation_failed') this.#problem ??= error;
      return undefined;
    }
  }

  add(path: string, text: string): void {
    this.#errors[path] = [text];
  }

  /** Throws them all, if there are any. */
  refuse(): void {
    const errors = this.#errors;
    if (Object.keys(errors).length === 0) return;
    if (!this.#problem) throw invalid(errors);
    const { code, detail, position } = this.#problem;
    throw new Problem(code, { ...(detail === undefined ? {} : { detail }), errors, position });
  }
}

/** Reads the items of a body. Each is validated as the resource that it becomes. */
export async function readItems(items: unknown): Promise<Wanted[]> {
  if (!Array.isArray(items)) throw invalid({ items: ['must be a list'] });
  if (items.length > deploymentItemsMax) {
    throw invalid({ items: [`must have at most ${deploymentItemsMax} entries`] });
  }
  const faults = new ItemFaults();
  const wanted: Wanted[] = [];
  const seen = new Set<string>();
  const pause = pauses();
  for (const [nth, item] of items.entries()) {
    await pause();
    const place = `items.${nth}`;
    const dto = await faults.of(place, () => Promise.resolve().then(() => readItem(item)));
    if (!dto) continue;
    const { kind, slug = '' } = dto;
    if (slug === '') faults.add(`${place}.slug`, 'is required');
    if (seen.has(`${kind} ${slug}`)) faults.add(`${place}.slug`, 'is there twice');
    seen.add(`${kind} ${slug}`);
    wanted.push({ place, slug, dto });
  }
  faults.refuse();
  return wanted;
}

export function readItem(item: unknown): DeployedItem {
  if (!isJsonObject(item)) throw invalid({ kind: ['must be the kind of an object'] });
  const kind = deployedKinds.find((one) => one === item.kind);
  if (!kind) throw invalid({ kind: [`must be ${deployedKinds.join(', ')}`] });
  return toDto<new () => DeployedItem>(deployedItems[kind], withNameOfFormula(kind, item));
}

function withNameOfFormula(kind: DeployedKind, item: JsonObject): JsonObject {
  const { name, formula } = item;
  if (kind !== 'reactor' || !isJsonObject(formula)) return item;
  return { ...item, formula: { ...formula, name: formula.name ?? name } };
}
