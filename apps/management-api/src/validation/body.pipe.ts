import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import { invalid } from '@glovebox/problems';
import { fieldRule, fieldsOf, isMembers, type Dto } from './fields';

/** Last: what the body says. Handlers see the declared members alone, each as it should be. */
@Injectable()
export class BodyPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' || !metatype || fieldsOf(metatype).length === 0) return value;
    return toDto(metatype as Dto, value);
  }
}

/** A document as an instance of the class, with the declared members alone; or all that is wrong. */
export async function toDto<Type extends Dto>(
  Type: Type,
  value: unknown,
): Promise<InstanceType<Type>> {
  if (!isMembers(value)) throw invalid({ '': ['must be a JSON object'] });
  const dto = plainToInstance(Type, value, {
    excludeExtraneousValues: true,
    exposeUnsetFields: false,
  });
  for (const { name, raw } of fieldsOf(Type)) {
    if (raw && Object.hasOwn(value, name)) Object.assign(dto, { [name]: value[name] });
  }
  const errors = Object.fromEntries(problemsOf(await validate(dto), ''));
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return dto as InstanceType<Type>;
}

function problemsOf(found: readonly ValidationError[], parent: string): [string, string[]][] {
  return found.flatMap(({ property, constraints, children = [] }) => {
    const path = parent === '' ? property : `${parent}.${property}`;
    const message = constraints?.[fieldRule];
    return message === undefined ? problemsOf(children, path) : [[path, [message]]];
  });
}
