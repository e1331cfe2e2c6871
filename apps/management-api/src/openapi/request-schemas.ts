import { deployedItems, deploymentItemsMax } from '../deployments/deployments.dto';
import { destinationCharactersMax } from '@glovebox/access';
import type { StringMapRule } from '../validation/decorators';
import { membersOf, type Dto, type DtoMember, type Rule } from '../validation/dto-members';
import { mapMembersMax, mapValueMax, originMax } from '../validation/resource-limits';
import { flag, instant, oneOf, ref, text, uuid, whole, type Schema, type Schemas } from './schema';
import { keepableSteps, requestSteps, responseSteps } from './step-schemas';
import { uploadMembers } from './code-operations';
import { tokenId, tokenMembers } from './token-members';

/** The keywords of each rule, in the order in which a schema lists them. */
const keywords: Readonly<Record<string, (...args: never[]) => Schema>> = {
  isString: () => text,
  isUuid: () => uuid,
  isInstant: () => instant,
  isBoolean: () => flag,
  isInt: () => whole,
  isIn: (values: readonly string[]) => oneOf(values),
  isArray: () => ({ type: 'array' }),
  isStringMap: mapSchema,
  isNotEmpty: () => ({ minLength: 1 }),
  textLength: (minLength: number, maxLength: number) =>
    minLength === 0 ? { maxLength } : { minLength, maxLength },
  matches: ({ source }: RegExp) => ({ pattern: source }),
  min: (minimum: number) => ({ minimum }),
  max: (maximum: number) => ({ maximum }),
  arrayMinSize: (minItems: number) => ({ minItems }),
  arrayMaxSize: (maxItems: number) => ({ maxItems }),
  isOrigin: () => ({ ...text, maxLength: originMax }),
  isDestination: () => ({ ...text, minLength: 1, maxLength: destinationCharactersMax }),
  arrayUnique: () => ({ uniqueItems: true }),
  // The schema comes from the class of the member.
  isObject: () => ({}),
  // No keyword expresses these.
  notContains: () => ({}),
  isAnyJson: () => ({}),
  noneWithout: () => ({}),
};

function mapSchema({ scalars, nulls, bytesMax }: StringMapRule): Schema {
  const limited = bytesMax === undefined ? { ...text, maxLength: mapValueMax } : text;
  const any = { anyOf: [text, { type: 'number' }, flag] };
  const map = {
    type: 'object',
    maxProperties: mapMembersMax,
    additionalProperties: scalars ? any : limited,
  };
  return nulls ? withNulls(map) : map;
}

const { type: _, ...withoutType } = tokenMembers;

/** Members of which the validator checks the form alone, because other code reads them. */
const readElsewhere: Readonly<Record<string, Schemas>> = {
  ProxyInput: { request_transforms: requestSteps, response_transforms: responseSteps },
  CreateToken: { ...tokenMembers, id: tokenId },
  TokenChange: withoutType,
  ...uploadMembers,
  DeployedProxy: keepableSteps,
  RehearsedProxy: keepableSteps,
};

/** Lists whose entries are of several classes, told apart by a member. */
const listsOfVariants: Readonly<
  Record<string, Readonly<Record<string, { readonly max: number; readonly dtos: readonly Dto[] }>>>
> = {
  CreateDeployment: { items: { max: deploymentItemsMax, dtos: Object.values(deployedItems) } },
};

/** Reads the schemas of bodies off the decorators of their DTO classes. */
export class RequestSchemas {
  readonly all: Record<string, Schema> = {};

  /** Adds the schema of a whole document, for POST and PUT. */
  add(dto: Dto): Schema {
    if (!Object.hasOwn(this.all, dto.name)) {
      const members = membersOf(dto);
      const required = members.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
      this.all[dto.name] = {
        type: 'object',
        properties: Object.fromEntries(
          members.map((member) => [member.name, this.#member(dto, member)]),
        ),
        ...(required.length === 0 ? {} : { required }),
      };
    }
    return ref(dto.name);
  }

  /** Adds the schema of a merge patch. */
  addPatch(dto: Dto): Schema {
    const name = `${dto.name}Patch`;
    const description = 'RFC 7386: members that are left out stay as they are, null removes.';
    this.all[name] = { ...this.#patch(dto), description };
    return ref(name);
  }

  #patch(dto: Dto): Schema {
    const members = membersOf(dto).map((member) => {
      const { name, type, rules, isOptional } = member;
      // Not a reference: OpenAPI 3.0 cannot make one nullable.
      const inPlace = type && !rules.has('isArray');
      const schema = inPlace ? this.#patch(type) : withNulls(this.#member(dto, member));
      // The schema of any JSON accepts null already.
      const isAny = schema.type === undefined;
      return [name, isOptional && !isAny ? { ...schema, nullable: true } : schema] as const;
    });
    return { type: 'object', properties: Object.fromEntries(members) };
  }

  #member(dto: Dto, { name, type, rules }: DtoMember): Schema {
    const elsewhere = readElsewhere[dto.name]?.[name];
    if (elsewhere) return elsewhere;
    const variants = listsOfVariants[dto.name]?.[name];
    if (variants) {
      const items = { oneOf: variants.dtos.map((one) => this.add(one)) };
      return { type: 'array', maxItems: variants.max, items };
    }
    const isOfEntries = ([, { each }]: readonly [string, Rule]): boolean => each;
    const own = schemaOf(
      dto,
      [...rules].filter((rule) => !isOfEntries(rule)),
    );
    if (!rules.has('isArray')) return type ? this.add(type) : own;
    const items = type ? this.add(type) : schemaOf(dto, [...rules].filter(isOfEntries));
    return { ...own, items };
  }
}

function schemaOf(dto: Dto, rules: readonly (readonly [string, Rule])[]): Schema {
  const unknown = rules.find(([name]) => !Object.hasOwn(keywords, name));
  if (unknown) throw new Error(`${dto.name}: no keyword of a schema for the rule ${unknown[0]}`);
  const found = Object.entries(keywords).flatMap(([name, keyword]) => {
    const rule = rules.find(([one]) => one === name)?.[1];
    return rule ? [keyword(...(rule.args as never[]))] : [];
  });
  return Object.assign({}, ...found) as Schema;
}

/** A map is patched name by name, and null removes a name. */
function withNulls(schema: Schema): Schema {
  const values = schema.additionalProperties as Schema | undefined;
  if (!values) return schema;
  const kinds = (values.anyOf ?? [values]) as Schema[];
  const nullable = kinds.map((kind) => ({ ...kind, nullable: true }));
  return { ...schema, additionalProperties: { anyOf: nullable } };
}
