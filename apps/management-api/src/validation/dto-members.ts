import { defaultMetadataStorage } from 'class-transformer/cjs/storage';
import { getMetadataStorage } from 'class-validator';

/** A class that a body becomes. */
export type Dto = new () => object;

/** A rule of a member, under the name that its decorator gave it. */
export interface Rule {
  readonly args: readonly unknown[];
  /** Applies to each entry of a list. */
  readonly each: boolean;
}

export interface DtoMember {
  readonly name: string;
  readonly isOptional: boolean;
  readonly rules: ReadonlyMap<string, Rule>;
  /** The class of its `@Type`: that of the member, or of each entry of a list. */
  readonly type: Dto | undefined;
  /**
   * The value may be any JSON, or has names of the caller's own. It stays as it came. Only the
   * document itself has such members, no nested class.
   */
  readonly staysAsItCame: boolean;
  /** Entries of a list; 0 where the member is no list. */
  readonly entriesMax: number;
}

const membersOfDto = new WeakMap<Dto, readonly DtoMember[]>();

/** Reads what the decorators of class-validator and class-transformer say of a class. */
export function membersOf(dto: Dto): readonly DtoMember[] {
  const known = membersOfDto.get(dto);
  if (known) return known;
  const found = readMembers(dto);
  membersOfDto.set(dto, found);
  return found;
}

const storage = getMetadataStorage();
type Metadata = ReturnType<typeof storage.getTargetValidationMetadatas>[number];

function readMembers(dto: Dto): DtoMember[] {
  const all = storage.getTargetValidationMetadatas(dto, '', false, false);
  const inherited = all.filter(({ target }) => target !== dto);
  const own = all.filter(({ target }) => target === dto);
  const byName = storage.groupByPropertyName([...inherited, ...own]);
  return Object.entries(byName).map(([name, about]) => readMember(dto, name, about));
}

function readMember(dto: Dto, name: string, about: readonly Metadata[]): DtoMember {
  const isOptional = about.some((one) => one.name === 'isOptional');
  const rules = new Map(
    about.flatMap(({ name: rule, constraints, each }) =>
      rule === undefined || rule === 'isOptional'
        ? []
        : [[rule, { args: (constraints ?? []) as unknown[], each: each === true }] as const],
    ),
  );
  const bound = rules.get('arrayMaxSize')?.args[0];
  if (rules.has('isArray') && bound === undefined) {
    throw new Error(`${dto.name}.${name} is a list without @ArrayMaxSize`);
  }
  const type = defaultMetadataStorage.findTypeMetadata(dto, name)?.typeFunction() as
    | Dto
    | undefined;
  // Their instances could not be told apart.
  const isList = rules.has('isArray');
  if (isList && type && membersOf(type).some((nested) => nested.staysAsItCame)) {
    throw new Error(`${dto.name}.${name} lists objects with a member that must stay as it came`);
  }
  const staysAsItCame = rules.has('isAnyJson') || rules.has('isStringMap');
  return { name, isOptional, rules, type, staysAsItCame, entriesMax: Number(bound ?? 0) };
}
