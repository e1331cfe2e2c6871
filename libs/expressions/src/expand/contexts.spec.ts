import { expandedBytesMax } from '../bounds/limits';
import {
  Budget,
  headerTemplate,
  pathTemplate,
  queryTemplate,
  Tally,
  valueTemplate,
} from '../index';
import { formTemplate, jsonTemplate, textTemplate } from '../spec-bodies';

const hostile: readonly unknown[] = [
  '{{ other }} {{v_1}} }} {{',
  '","admin":true,"x":"',
  '\\',
  '\\"',
  '\u0000\u0001\u001f\u007f',
  'a\r\nSet-Cookie: b',
  'a&admin=1&a=2#?;+ %26%00',
  '../..//\\..\\%2e%2e%2f',
  '\u2028\u2029\ufeff',
  '😀é漢',
  "'); DROP TABLE--",
  '</script><!--',
  '',
  0,
  false,
  null,
  [1, '"', { a: '}}' }],
  { '"': '\\', nested: { '{{ other }}': ['\n'] } },
];

const valuesOf = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map([
    ['v_1', value],
    ['other', 'expanded twice'],
  ]);
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
const isComplex = (value: unknown): boolean => typeof value === 'object' && value !== null;

describe.each(hostile.map((value) => [value]))('the value %j cannot leave its place', (value) => {
  const values = valuesOf(value);

  it('in a JSON body', () => {
    const body =
      '{"whole":"{{v_1}}","part":"<{{ v_1 }}>","{{v_1}}|":[ "{{v_1}}" ],"lower":"{{v_1|append:\\"\\"}}"}';
    const fits = !isComplex(value) && value !== null;
    const text = fits ? body : body.replace('|append:\\"\\"', '');
    expect(JSON.parse(jsonTemplate(text).render(values))).toEqual({
      whole: isComplex(value) ? value : asText(value),
      part: `<${asText(value)}>`,
      [`${asText(value)}|`]: [isComplex(value) ? value : asText(value)],
      lower: isComplex(value) ? value : asText(value),
    });
  });

  it('in a form and in a query', () => {
    const text = 'a=1&{{v_1}}=x&b=%7B%7B+v_1+%7D%7D&c=<{{v_1}}>&d=1';
    for (const template of [formTemplate(text), queryTemplate(text)]) {
      expect([...new URLSearchParams(template.render(values))]).toEqual([
        ['a', '1'],
        [asText(value), 'x'],
        ['b', asText(value)],
        ['c', `<${asText(value)}>`],
        ['d', '1'],
      ]);
    }
  });

  it('in a path', () => {
    const path = pathTemplate('/a/x{{v_1}}/%7B%7Bv_1%7D%7Dy/z').render(values);
    const url = new URL(`https://example.com${path}`);
    expect(url.pathname.split('/').map(decodeURIComponent)).toEqual([
      '',
      'a',
      `x${asText(value)}`,
      `${asText(value)}y`,
      'z',
    ]);
    expect([url.search, url.hash]).toEqual(['', '']);
  });

  it('in a header', () => {
    const render = (): string[] => headerTemplate(['X-A', 'b {{v_1}}', 'x-c', 'd']).render(values);
    if (/[\u0000-\u001f\u007f]/.test(asText(value))) {
      expect(render).toThrow(expect.objectContaining({ code: 'invalid_request', status: 400 }));
      return;
    }
    const [name, line = '', ...rest] = render();
    expect([name, ...rest]).toEqual(['X-A', 'x-c', 'd']);
    expect(Buffer.from(line, 'latin1').toString('utf8')).toBe(`b ${asText(value)}`);
  });

  it('in text, where it stands once and unchanged', () => {
    expect(textTemplate('<a>{{v_1}}</a>').render(values)).toBe(`<a>${asText(value)}</a>`);
  });

  it('in arguments, with its type', () => {
    const args = { a: '{{v_1}}', b: ['-{{ v_1 }}'] };
    expect(valueTemplate(args).render(values)).toEqual({ a: value, b: [`-${asText(value)}`] });
  });
});

describe('half an escape before an expression', () => {
  const values = valuesOf('2f"n');

  it.each(['\\', '\\\\\\', 'a\\'])('in JSON is refused: %s', (escape) => {
    expect(() => jsonTemplate(`{"a":"${escape}{{v_1}}"}`)).toThrow(/follows half an escape/);
  });

  it('in JSON is not meant by a whole one, which is accepted', () => {
    const text = '{"a":"\\\\{{v_1}}\\"{{v_1}}\\u00e4{{v_1}}"}';
    expect(JSON.parse(jsonTemplate(text).render(values))).toEqual({ a: '\\2f"n"2f"nä2f"n' });
  });

  it.each(['%', '%2', '%25%', 'a=%f'])('in a path or form is refused: %s', (escape) => {
    expect(() => pathTemplate(`/${escape}{{v_1}}`)).toThrow(/follows half an escape/);
    expect(() => formTemplate(`${escape}%7B%7Bv_1%7d%7d`)).toThrow(/follows half an escape/);
  });

  it('in the field before is accepted', () => {
    expect(formTemplate('a=%&{{v_1}}').render(values)).toBe('a=%&2f%22n');
  });

  it('in a path is not meant by a whole one, which is accepted', () => {
    expect(pathTemplate('/%25{{v_1}}%41').render(values)).toBe('/%252f%22n%41');
  });
});

describe('every byte outside of expressions stays as it was', () => {
  const values = valuesOf('!');

  it.each([
    [jsonTemplate, '{ "a" :\t1.50e+3,"\\u00e9\\/":"\\ud83d{{v_1}}"}', '\\ud83d!'],
    [formTemplate, 'a=%2b+%C3%28&&=&é=%zz&b={{v_1}}&%7B%7Bopen', 'b=!'],
    [pathTemplate, '//a/./%2E%7B/é;x=1/{{v_1}}', '/!'],
    [textTemplate, '\ufeffa\r\n\u0000 } {{{v_1}} }}'.replace('{{{', '{ {{'), '{ !'],
  ])('in %o', (make, text, part) => {
    const [before, after] = text.split('{{v_1}}');
    const result = make(text).render(values);
    expect(result).toBe(`${before}!${after}`);
    expect(result).toContain(part);
  });

  it('in headers too, whose names are not expanded', () => {
    const raw = ['X-{{v_1}}', 'caf\u00e9 {{v_1}}', 'x', 'y', 'X', ''];
    expect(headerTemplate(raw).render(values)).toEqual([raw[0], 'caf\u00e9 !', 'x', 'y', 'X', '']);
  });
});

describe('braces of two fields enclose no expression', () => {
  it.each(['a={{v_1&b=}}', '{{v_1=&}}', '%7B%7Bv_1&%7D%7D'])('in %s', (form) => {
    expect(formTemplate(form).tokenIds).toEqual([]);
    expect(formTemplate(form).render(valuesOf('x'))).toBe(form);
  });
});

describe('an encoded expression', () => {
  const values = valuesOf({ 'a b': 'x' });

  it('is decoded before it is read', () => {
    const encoded = encodeURIComponent(`{{ v_1 | json: "$['a b']" | append: '&=+%' }}`);
    expect(formTemplate(`q=${encoded}`).render(values)).toBe('q=x%26%3D%2B%25');
    expect(pathTemplate(`/${encoded}`).render(values)).toBe('/x%26%3D%2B%25');
    const plus = encoded.replaceAll('%20', '+');
    expect(formTemplate(`q=${plus}`).render(values)).toBe('q=x%26%3D%2B%25');
  });

  it('keeps a plus in a path as a plus', () => {
    expect(() => pathTemplate('/{{+v_1+}}')).toThrow(/character 1 is not valid/);
  });

  it.each(['{{v_1%}}', '{{%ff%fe%fd}}', '%7B%7Bv_1%C3%7D%7D'])(
    'is refused when it is broken: %s',
    (text) => {
      expect(() => formTemplate(text)).toThrow(/character 0 is not valid/);
    },
  );

  it('does not end at a slash in its arguments', () => {
    const card = new Map([['v_1', { expiration_month: 1, expiration_year: 2030 }]]);
    expect(pathTemplate("/{{v_1|card_exp:'MM/YY'}}/x").render(card)).toBe('/01%2F30/x');
  });
});

describe('an expression in a JSON string', () => {
  it('may hold escapes, which are decoded first', () => {
    const text = JSON.stringify({ a: `{{ v_1 | json: "$['é\\"']" | append: "\\\\\\"" }}` });
    expect(JSON.parse(jsonTemplate(text).render(valuesOf({ 'é"': 'x' })))).toEqual({ a: 'x\\"' });
  });

  it.each(['{"a":"{{v_1\\x}}"}', '{"a":"{{v_1\\u00}}"}'])(
    'is refused with broken escapes: %s',
    (text) => {
      expect(() => jsonTemplate(text)).toThrow(/character 6 is not valid/);
    },
  );

  it('is refused outside of a string, also around a quoted argument', () => {
    expect(() => jsonTemplate('{"a":{{v_1|append:"x"}}}')).toThrow(/outside of a JSON string/);
  });
});

describe('a request of several templates', () => {
  it('counts its tokens and expressions together, and knows all its tokens', () => {
    const tally = new Tally();
    const body = Array.from({ length: 60 }, (_, i) => `{{token-${i}}}`).join('');
    expect(textTemplate(body, tally).tokenIds).toHaveLength(60);
    expect(pathTemplate('/{{token-3}}/{{path}}', tally).tokenIds).toEqual(['token-3', 'path']);
    expect(tally.tokenIds).toHaveLength(61);
    const more = ['x', Array.from({ length: 40 }, (_, i) => `{{more-${i}}}`).join('')];
    expect(() => headerTemplate(more, tally)).toThrow(/at most 100 tokens/);
    const many = new Tally();
    queryTemplate('{{v_1}}'.repeat(999), many);
    textTemplate('{{v_1}}', many);
    expect(() => jsonTemplate('"{{v_1}}"', many)).toThrow(/at most 1000 expressions/);
  });

  it('shares one budget of expanded bytes', () => {
    const budget = new Budget();
    const values = valuesOf('x'.repeat(expandedBytesMax / 2));
    textTemplate('{{v_1}}').render(values, budget);
    jsonTemplate('"={{v_1}}"').render(values, budget);
    expect(() => textTemplate('{{v_1|last4}}').render(values, budget)).toThrow(
      expect.objectContaining({ code: 'payload_too_large', status: 413 }),
    );
  });
});

describe('an expression of 4 KB', () => {
  const spaced = (bytes: number): string => `{{${' '.repeat(bytes - 7)}v_1}}`;

  it.each([
    [textTemplate, ''],
    [jsonTemplate, '"'],
    [formTemplate, ''],
    [pathTemplate, ''],
  ])('passes, while a longer one is refused: %o', (make, quote) => {
    expect(make(quote + spaced(4_096) + quote).tokenIds).toEqual(['v_1']);
    expect(() => make(quote + spaced(4_097) + quote)).toThrow(/longer than 4096 bytes/);
  });
});

it('a member called __proto__ stays a member', () => {
  const args: unknown = JSON.parse('{"__proto__":{"a":"{{v_1}}"}}');
  const rendered = valueTemplate(args).render(valuesOf(1));
  expect(JSON.stringify(rendered)).toBe('{"__proto__":{"a":1}}');
});
