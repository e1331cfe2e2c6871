import {
  atOnce,
  Budget,
  Opaque,
  parseJsonPath,
  placesAt,
  placeTemplate,
  valueOf,
  valueTemplate,
} from '../index';

class Secret extends Opaque {
  readonly name = 'hidden';

  plain(): unknown {
    return 42;
  }
}

const document = {
  card: { number: '4242424242424242', month: 3 },
  lines: [{ sku: 'a' }, { sku: 'b', card: { number: '1' } }],
};

function placesOf(value: unknown, path: string, max = 100): { keys: string; visits: number } {
  let visits = 0;
  const steps = parseJsonPath(path);
  if (!steps) throw new Error('No path');
  const places = atOnce(placesAt([value], steps, max, () => (visits += 1)));
  const keys = places.map((place) => {
    const way: (string | number)[] = [];
    for (let at: typeof place | undefined = place; at; at = at.up) way.unshift(at.key);
    expect(way).toHaveLength(place.depth + 1);
    return way.slice(1).join('.');
  });
  return { keys: keys.join(' '), visits };
}

describe('the places that a path leads to', () => {
  it.each([
    ['$', ''],
    ['$.card.number', 'card.number'],
    ['$.lines[*].sku', 'lines.0.sku lines.1.sku'],
    ['$.lines[-1].card', 'lines.1.card'],
    ['$..number', 'card.number lines.1.card.number'],
    ['$..card', 'card lines.1.card'],
    ['$.*', 'card lines'],
    ['$..*', 'card lines'],
    ['$.missing', ''],
    ['$.card.number.length', ''],
    ['$.lines.length', ''],
    ["$['card']['month']", 'card.month'],
  ])('for %s are: %s', (path, expected) => {
    expect(placesOf(document, path).keys).toBe(expected);
  });

  it('are none inside another, nor inside what is not JSON', () => {
    expect(placesOf({ a: { a: { a: 1 } }, b: { a: 2 } }, '$..a').keys).toBe('a b.a');
    expect(placesOf({ a: { b: { a: { b: { b: 1 } } } } }, '$..a.b').keys).toBe('a.b');
    expect(placesOf({ a: new Secret() }, '$.a.name').keys).toBe('');
    expect(placesOf({ a: new Secret() }, '$..name').keys).toBe('');
  });

  it('are counted up to one more than the maximum', () => {
    const list = Array(10_000).fill(1);
    expect(placesOf(list, '$[*]', 3).keys).toBe('0 1 2 3');
    expect(placesOf(list, '$[*]', 3).visits).toBe(5);
    expect(placesOf(list, '$..a').visits).toBe(10_001);
  });

  it('have their values', () => {
    const [place] = atOnce(placesAt([document], parseJsonPath('$.card') ?? [], 1, () => {}));
    expect(place && valueOf(place)).toBe(document.card);
  });
});

describe('an expression over a document and a place in it', () => {
  const make = (text: string, value: unknown = document.lines): unknown =>
    atOnce(placeTemplate(text).make(document, value, new Budget()));

  it.each([
    ['{{ $.card.number | last4 }}', '4242'],
    ['{{ @[1].sku }}', 'b'],
    ['{{ @[0] }}', { sku: 'a' }],
    ['{{$.card.month}}', 3],
    ['{{ @[0].sku }} of {{ $.card.month }}', 'a of 3'],
    ['plain', 'plain'],
    ['{{ open', '{{ open'],
  ])('may be %s', (text, expected) => {
    expect(make(text)).toEqual(expected);
  });

  it.each(['{{ data }}', '{{ some-token }}', '{{ $$ }}', '{{ @ | nothing }}', '{{ $. }}', '{{ }}'])(
    'may not be %s',
    (text) => {
      expect(() => placeTemplate(text)).toThrow('expression');
    },
  );

  it('is not the expression of any other kind of document', () => {
    expect(() => valueTemplate('{{ $ }}').tokenIds).toThrow();
  });

  it('sees an opaque value as its plain value, wherever it stands', () => {
    const value = { a: new Secret(), card: { expiration_month: new Secret() } };
    expect(make('{{ @.a | append: "!" }}', value)).toBe('42!');
    expect(make("{{ @ | json: '$.a' }}", value)).toBe(42);
    expect(make('{{ @ | stringify }}', value)).toBe('{"a":42,"card":{"expiration_month":42}}');
  });

  it('is charged for plain text as well, since it is made for each of many places', () => {
    const budget = new Budget();
    const template = placeTemplate('x'.repeat(4_000));
    const often = (times: number) => () => {
      for (let time = 0; time < times; time += 1) atOnce(template.make({}, 1, budget));
    };
    expect(often(2_600)).not.toThrow();
    expect(often(100)).toThrow('at most');
  });
});
