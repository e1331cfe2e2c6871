import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsObject,
  IsOptional,
  IsString,
  ValidateNested,
} from 'class-validator';
import { UpdateApplication } from '../applications/applications.dto';
import { ProxyInput } from '../proxies/proxies.dto';
import { UpdateTenant } from '../tenants/tenants.dto';
import { CreateToken } from '../tokens/tokens.dto';
import { toDto } from './body.pipe';
import { IsStringMap } from './decorators';
import { membersOf, type Dto } from './dto-members';

const errorsOf = (Type: Dto, document: unknown): unknown => {
  try {
    toDto(Type, document);
  } catch (error) {
    return (error as { errors: unknown }).errors;
  }
  throw new Error('nothing is wrong with it');
};

const proxy = { name: 'p', destination_url: 'https://example.com' };

describe('a document', () => {
  it('becomes an instance of its class with the declared members alone', () => {
    const rule = { priority: 1, container: '/', transform: 'mask', permissions: ['token:use'] };
    const input = { name: 'a', rules: [{ ...rule, more: 1 }], more: 1, constructor: 1 };
    const dto = toDto(UpdateApplication, input);
    expect(dto).toBeInstanceOf(UpdateApplication);
    expect({ ...dto }).toEqual({ name: 'a', rules: [rule] });
  });

  it.each([[undefined], [null], [1], ['x'], [[]], [[proxy]]])(
    'must be an object, not %j',
    (document) => {
      expect(errorsOf(ProxyInput, document)).toEqual({ body: ['must be a JSON object'] });
    },
  );

  it('gets one message for each wrong member, all at once', () => {
    const wrong = {
      name: '\0'.repeat(201),
      request_transform: { code: 5, runtime: 'node18' },
      application: [],
      configuration: Array(101).fill('x'),
      timeout_ms: 1.5,
      certificate_authority: '',
    };
    expect(errorsOf(ProxyInput, wrong)).toEqual({
      name: ['must not contain NUL'],
      destination_url: ['is required'],
      'request_transform.code': ['must be a string'],
      'request_transform.runtime': ['must be node16, node20, node22 or node24'],
      application: ['must be an object'],
      configuration: ['must be an object'],
      timeout_ms: ['must be a whole number from 1000 to 210000'],
      certificate_authority: ['must not be empty'],
    });
  });

  it('gets a message that names the wrong entry of a list', () => {
    const rule = {
      priority: 0,
      container: 'x',
      transform: 'show',
      permissions: ['token:use', 'x'],
    };
    expect(errorsOf(UpdateApplication, { name: 'a', rules: [rule] })).toEqual({
      'rules.0.priority': ['must be a whole number from 1 to 1000000'],
      'rules.0.container': ['must be a path of letters, digits, _ and -, such as /pci/high/'],
      'rules.0.transform': ['must be reveal, mask or redact'],
      'rules.0.permissions': ['entry 1 is no permission'],
    });
    const lists = { rules: [null], permissions: [] };
    expect(errorsOf(UpdateApplication, { name: 'a', ...lists })).toEqual({
      rules: ['must be a list of objects'],
    });
  });

  it('may have null for each optional member, as if it were left out', () => {
    const optional = membersOf(ProxyInput).filter(({ isOptional }) => isOptional);
    const nulls = Object.fromEntries(optional.map(({ name }) => [name, null]));
    const dto = toDto(ProxyInput, { ...proxy, ...nulls });
    // The steps are read by other code, which takes null for an empty list.
    expect({ ...dto }).toEqual({ ...proxy, request_transforms: null, response_transforms: null });
  });

  it('keeps names such as __proto__ in a map and in any JSON', () => {
    const text = '{"__proto__":"a","constructor":"b","toString":"c","then":"d"}';
    const input = JSON.parse(`{"data":${text},"mask":null,"metadata":${text}}`) as unknown;
    const { data, mask, metadata } = toDto(CreateToken, input);
    expect([JSON.stringify(data), mask, JSON.stringify(metadata)]).toEqual([text, null, text]);
    const inherited = Object.create({ name: 'inherited' }) as unknown;
    expect(errorsOf(UpdateTenant, inherited)).toEqual({ name: ['is required'] });
  });

  it('is limited by UTF-16 code units, of which an emoji has several', () => {
    const named = (name: string) => ({ ...proxy, name });
    expect(toDto(ProxyInput, named('😀'.repeat(100))).name).toHaveLength(200);
    const errors = { name: ['must be at most 200 characters'] };
    expect(errorsOf(ProxyInput, named('😀'.repeat(101)))).toEqual(errors);
    expect(errorsOf(ProxyInput, named('a\ufe0f'.repeat(101)))).toEqual(errors);
  });
});

describe('a DTO class', () => {
  it('is refused if it declares a list without a limit', () => {
    class Unlimited {
      @IsArray()
      @IsString({ each: true })
      words!: string[];
    }
    expect(() => membersOf(Unlimited)).toThrow('Unlimited.words is a list without @ArrayMaxSize');
  });

  it('is refused if it lists objects with a map, which would be lost', () => {
    class Inner {
      @IsStringMap()
      map!: Record<string, string>;
    }
    class Outer {
      @IsArray()
      @ArrayMaxSize(1)
      @Type(() => Inner)
      @ValidateNested({ each: true })
      inner!: Inner[];
    }
    expect(() => membersOf(Outer)).toThrow(
      'Outer.inner lists objects with a member that must stay as it came',
    );
  });

  it('may nest a map, which stays as it came', () => {
    class Inner {
      @IsStringMap()
      map!: Record<string, string>;
    }
    class Outer {
      @IsObject()
      @Type(() => Inner)
      @ValidateNested()
      inner!: Inner;
    }
    const inner = { map: { a: 'b' }, more: 1 };
    expect(toDto(Outer, { inner })).toEqual({ inner: { map: { a: 'b' } } });
    expect(errorsOf(Outer, { inner: { map: { a: 1 } } })).toHaveProperty(['inner.map']);
  });

  it('has the members that it inherits first', () => {
    class Parent {
      @IsString()
      first!: string;
    }
    class Child extends Parent {
      @IsOptional()
      @IsArray()
      @ArrayMaxSize(3)
      @IsString({ each: true })
      second?: string[];
    }
    expect(membersOf(Child)).toMatchObject([
      { name: 'first', isOptional: false, entriesMax: 0 },
      { name: 'second', isOptional: true, entriesMax: 3 },
    ]);
  });
});
