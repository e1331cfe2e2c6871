import { randomUUID } from 'node:crypto';
import { expressionBytesMax } from './bounds/limits';
import { dataTemplate, placeTemplate, valueTemplate } from './index';
import { jsonTemplate, textTemplate } from './spec-bodies';

const card = { number: '4242424242424242', expiration_month: 12 };
const id = 'card_token';
const values = new Map<string, unknown>([
  [id, card],
  ['plain', 'a "quoted"\n{{ card_token }} \\ \u0000 value'],
  ['amount', 42],
  ['nothing', null],
]);

describe('an expression', () => {
  it('is found with and without spaces around the id', () => {
    expect(textTemplate('a {{x_1}} b {{  x_2  }}').tokenIds).toEqual(['x_1', 'x_2']);
  });

  it('is plain text without its closing braces', () => {
    const text = '{{ open and { { never } } closed';
    expect(textTemplate(text).render(values)).toBe(text);
  });

  it('is refused by position and not echoed when it is malformed', () => {
    expect(() => textTemplate('four {{ 4111 1111 }}')).toThrow(
      'The expression at character 5 is not valid.',
    );
    expect(() => textTemplate('{{ab}}')).toThrow(/character 0/);
    expect(() => textTemplate(`{{${'x'.repeat(expressionBytesMax)}}}`)).toThrow(/character 0/);
  });

  it('names a UUID in either case', () => {
    const uuid = randomUUID();
    expect(textTemplate(`{{${uuid.toUpperCase()}}}`).tokenIds).toEqual([uuid]);
    expect(textTemplate('{{MyToken}}').tokenIds).toEqual(['MyToken']);
  });

  it('is scanned in time that grows with the text, not faster', () => {
    const startedAt = performance.now();
    expect(textTemplate('{{'.repeat(1_000_000)).tokenIds).toEqual([]);
    expect(jsonTemplate(JSON.stringify(Array(100_000).fill('{{'))).tokenIds).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('an expression over given data', () => {
  const render = (document: unknown, data: unknown): unknown => dataTemplate(document).render(data);

  it('begins with a path of the data in place of a token’s id', () => {
    const mask = { number: '{{ data.number | last4 }}', month: '{{data.expiration_month}}' };
    expect(render(mask, card)).toEqual({ number: '4242', month: 12 });
    expect(render('{{ data }}', card)).toEqual(card);
    expect(render('x {{ data[0]["a b"] | upcase }}', [{ 'a b': 'y' }])).toBe('x Y');
    expect(render(["{{ data | json: '$.number' }}"], card)).toEqual([card.number]);
  });

  it.each(['{{ data.a. }}', '{{ data. }}', '{{ data x }}'])(
    'is refused when it is not a path: %s',
    (document) => {
      expect(() => dataTemplate(document)).toThrow(/character 0 is not valid/);
    },
  );

  it.each([
    ['{{ card_token }}', 'begins with `card_token`'],
    ['{{ number | last4 }}', 'begins with `number`'],
    ['{{data_x.y}}', 'begins with `data_x`'],
    ['{{ $.number }}', 'begins with something else'],
    ['{{ n4242424242424242 }}', 'begins with something else'],
    ['{{ aWordOfTwentyOneSigns }}', 'begins with something else'],
    [`{{ ${'n'.repeat(41)} }}`, 'begins with something else'],
    [`{{ key_${'aB'.repeat(16)}c }}`, 'begins with something else'],
    ['{{ secret@example.com }}', 'begins with something else'],
  ])('is refused when it begins otherwise: %s', (document, found) => {
    expect(() => dataTemplate(document)).toThrow(
      `The expression at character 0 ${found}; expressions here begin with \`data\`.`,
    );
  });

  it('over a place is told how it begins', () => {
    expect(() => placeTemplate('a {{ data.number }}')).toThrow(
      'The expression at character 2 begins with `data`; expressions here begin with `$` or `@`.',
    );
  });

  it.each(['{{ data.none }}', '{{ data.__proto__ }}', '{{ data.number.length }}'])(
    'is refused when its path leads to nothing: %s',
    (document) => expect(() => render(document, card)).toThrow(/at character 0 leads to no value/),
  );

  it('is refused when its path leads to several values', () => {
    expect(() => render('{{ data.* }}', card)).toThrow(/at character 0 leads to several values/);
  });

  it('is refused when it expands to more than 10 MiB', () => {
    const document = Array(11).fill('{{ data }}');
    expect(() => render(document, 'x'.repeat(1024 * 1024))).toThrow(
      expect.objectContaining({ status: 413 }),
    );
  });
});

describe('an expression in reactor arguments', () => {
  it('becomes the value with its type if it is the whole string', () => {
    const template = valueTemplate({
      card: `{{ ${id} }}`,
      list: [1, '{{amount}}'],
      none: '{{nothing}}',
    });
    expect(template.tokenIds).toEqual([id, 'amount', 'nothing']);
    expect(template.render(values)).toEqual({ card, list: [1, 42], none: null });
  });

  it('becomes text in longer text, or JSON for a complex value', () => {
    const template = valueTemplate({ text: `pay {{amount}} with {{${id}}}` });
    expect(template.render(values)).toEqual({ text: `pay 42 with ${JSON.stringify(card)}` });
  });
});

describe('the place of an expression in a document', () => {
  const refusal = (document: unknown): (() => unknown) => {
    return () => valueTemplate(document).render(values);
  };

  it('is named when the expression is malformed or does not fit its value', () => {
    expect(refusal({ a: [{}, { b_1: 'x {{ ? }}' }] })).toThrow(
      'The expression at character 2 of a.1.b_1 is not valid.',
    );
    expect(refusal({ a: { b: '{{nothing | last4}}' } })).toThrow(
      'The expression at character 0 of a.b has a value that the filter last4 cannot take.',
    );
    expect(refusal('{{ ? }}')).toThrow('The expression at character 0 is not valid.');
  });

  it('is named without names that could be data, and at limited length', () => {
    expect(refusal({ a: 1, '4111111111111111': { 'j@x.org': '{{ ? }}' } })).toThrow(
      'character 0 of #1.#0 is',
    );
    const deep = Array(60)
      .fill(0)
      .reduce((inner: unknown) => ({ ['n'.repeat(40)]: inner }), '{{ ? }}') as unknown;
    expect(refusal(deep)).toThrow(`character 0 of …${`.${'n'.repeat(40)}`.repeat(8)} is`);
  });
});

describe('a wide document', () => {
  it('stays as it is where it holds no expression, at no cost in memory', () => {
    const wide: unknown = JSON.parse(`[${Array(1_000_000).fill('[]').join()}]`);
    const before = process.memoryUsage().heapUsed;
    const template = valueTemplate({ wide, id: '{{amount}}' });
    const rendered = template.render(values) as { wide: unknown; id: unknown };
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1024 * 1024);
    expect(rendered.wide).toBe(wide);
    expect(rendered.id).toBe(42);
  });
});

describe('an expression in a JSON body', () => {
  it('becomes an object if it is the whole string', () => {
    expect(jsonTemplate(`{"card":"{{${id}}}"}`).render(values)).toBe(
      `{"card":${JSON.stringify(card)}}`,
    );
  });

  it('becomes text in its string if its value is a scalar', () => {
    expect(jsonTemplate('{"a":"{{amount}}"}').render(values)).toBe('{"a":"42"}');
  });

  it('cannot make a value leave its string or be expanded again', () => {
    const text = jsonTemplate('{"a":"<{{plain}}>","b":"{{plain}}"}').render(values);
    expect(JSON.parse(text)).toEqual({
      a: `<${String(values.get('plain'))}>`,
      b: values.get('plain'),
    });
  });

  it('leaves every other byte as it was', () => {
    const text = `{ "x" : 1.50, "y":"\\u00e4\\"{{amount}}" ,"z" :[ ] }`;
    expect(jsonTemplate(text).render(values)).toBe(`{ "x" : 1.50, "y":"\\u00e4\\"42" ,"z" :[ ] }`);
  });

  it('is not the whole string next to an escaped quote', () => {
    const text = jsonTemplate(`{"a":"\\"{{${id}}}"}`).render(values);
    expect(JSON.parse(text)).toEqual({ a: `"${JSON.stringify(card)}` });
  });

  it.each([
    ['{"n":"{{","card":"4242424242424242","x":"}}"}'],
    ['{"a":"open {{","b":"close }}"}'],
    ['{"note":"use {{ to open","meta":{"a":{"b":1}}}'],
    ['{"a":"{{","b":{"c":{"d":{}}}}'],
  ])('is not enclosed by braces of two strings: %s', (text) => {
    expect(jsonTemplate(text).tokenIds).toEqual([]);
    expect(jsonTemplate(text).render(values)).toBe(text);
  });

  it('becomes text in the name of a member, whatever its value is', () => {
    const rendered = JSON.parse(jsonTemplate(`{"{{${id}}}" : 1}`).render(values)) as object;
    expect(Object.keys(rendered)).toEqual([JSON.stringify(card)]);
  });

  it('is refused outside of a string', () => {
    expect(() => jsonTemplate('{"a":{{amount}}}')).toThrow(/outside of a JSON string/);
  });
});

describe('the limits of a request:', () => {
  it('100 tokens pass, 101 do not', () => {
    const expressions = (count: number): string[] =>
      Array.from({ length: count }, (_, i) => `{{token-${i}}}`);
    expect(valueTemplate(expressions(100)).tokenIds).toHaveLength(100);
    expect(() => valueTemplate(expressions(101))).toThrow(/at most 100 tokens/);
  });

  it('1,000 expressions pass, 1,001 do not', () => {
    const expressions = (count: number): string[] => Array<string>(count).fill('{{amount}}');
    expect(valueTemplate(expressions(1_000)).tokenIds).toEqual(['amount']);
    expect(() => valueTemplate(expressions(1_001))).toThrow(/at most 1000 expressions/);
  });

  it('an expansion above 10 MiB is refused before it is made', () => {
    const megabyte = new Map([['amount', 'x'.repeat(1024 * 1024)]]);
    const template = jsonTemplate(JSON.stringify(Array(1_000).fill('y{{amount}}')));
    const before = process.memoryUsage().rss;
    expect(() => template.render(megabyte)).toThrow(expect.objectContaining({ status: 413 }));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('the same holds for arguments', () => {
    const megabyte = new Map([['amount', 'x'.repeat(1024 * 1024)]]);
    expect(() => valueTemplate(Array(11).fill('{{amount}}')).render(megabyte)).toThrow(
      expect.objectContaining({ status: 413 }),
    );
  });
});
