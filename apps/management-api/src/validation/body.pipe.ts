import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { invalid } from '@glovebox/problems';
import { fieldsOf, isMembers, type Dto, type Field, type Members } from './fields';

/** Last: what the body says. Handlers see the declared members alone, each as it should be. */
@Injectable()
export class BodyPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' || !metatype || fieldsOf(metatype).length === 0) return value;
    return toDto(metatype as Dto, value);
  }
}

/** A document as an instance of the class, with the declared members alone; or all that is wrong. */
export function toDto<Type extends Dto>(Type: Type, value: unknown): InstanceType<Type> {
  if (!isMembers(value)) throw invalid({ '': ['must be a JSON object'] });
  const errors: Record<string, string[]> = {};
  const dto = readMembers(Type, value, '', errors);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return dto as InstanceType<Type>;
}

/**
 * Looks at the declared members alone, and into none whose check has not counted it: what a document
 * costs does not grow with what is in it that nobody asked for.
 */
function readMembers(
  Type: Dto,
  given: Members,
  parent: string,
  errors: Record<string, string[]>,
): object {
  const dto = new Type();
  for (const field of fieldsOf(Type)) {
    const { name, nested } = field;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (isAbsent(field, value)) continue;
    const path = parent === '' ? name : `${parent}.${name}`;
    const wrong = field.wrong(value);
    if (wrong !== undefined) errors[path] = [wrong];
    else Object.assign(dto, { [name]: nested ? readNested(nested(), value, path, errors) : value });
  }
  return dto;
}

function readNested(
  Type: Dto,
  value: unknown,
  path: string,
  errors: Record<string, string[]>,
): unknown {
  if (Array.isArray(value)) {
    return value.map((one, index) => readNested(Type, one, `${path}.${index}`, errors));
  }
  return isMembers(value) ? readMembers(Type, value, path, errors) : value;
}

/** Contract 1: an optional member that is null counts as absent. */
function isAbsent({ optional, raw }: Field, value: unknown): boolean {
  return optional && (value === undefined || (value === null && !raw));
}
