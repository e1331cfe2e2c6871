import type { Context } from './slow-reference';

/** Values that try to leave the place that they are put in. */
export const hostileValues: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['card_1', { number: '4242424242424242', 'na"me': ['{{amount}}', null] }],
  ['amount', 42],
  ['yes', true],
  ['null_', null],
  ['list', [1, '"', { number: 5 }]],
  ['quotes', '","admin":true,"x":"\\'],
  ['braces', '{{ card_1 }} {{amount}}'],
  ['lines', 'a\r\nSet-Cookie: b\u0000c\u2028'],
  ['fields', 'a&admin=1&b=%26+%7B%7Bamount%7D%7D;#?/../\\'],
  ['halves', '\ud83d 😀 \ude00'],
  ['empty', ''],
  ["i'd", 'an id with a quote'],
]);

const contexts: readonly Context[] = ['json', 'text', 'form', 'path', 'value', 'header'];

const filters = [
  ' | last4',
  '|upcase',
  ' | stringify ',
  '| to_string',
  ` | json: '$.number'`,
  ` | json:"$['number']"`,
  ` |reveal_last: 2`,
  ` | append: '|&"'`,
  ` | replace: "4", '{{'`,
  ' | nope',
  ' | ',
];

const loose = [
  ...[
    '{{',
    '}}',
    '{',
    '}',
    '"',
    '\\',
    '\\"',
    '\\\\',
    '&',
    '=',
    '+',
    '%',
    '%4',
    '%41',
    '%7B',
    '%7d',
  ],
  ...[
    '%7b%7B',
    '%7D%7D',
    ' ',
    '\n',
    ':',
    ',',
    '[',
    ']',
    'a',
    'é',
    '😀',
    '\\u00e9',
    '"a":',
    '|',
    "'",
  ],
];

export interface Case {
  readonly context: Context;
  readonly text: string;
}

export function makeCase(random: (below: number) => number): Case {
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? '';
  const context = contexts[random(contexts.length)] ?? 'text';
  let text = '';
  for (let count = random(9); count >= 0; count -= 1) {
    text += random(3) > 0 ? pick(loose) : written(context, expression(random, pick), random);
  }
  return { context, text };
}

function expression(
  random: (below: number) => number,
  pick: (list: readonly string[]) => string,
): string {
  const space = ' '.repeat(random(400) === 0 ? 4_075 + random(20) : random(3));
  let text = `{{${space}${pick([...hostileValues.keys()])}`;
  for (let count = random(6) - 3; count > 0; count -= 1) text += pick(filters);
  return `${text}${space === '' ? '' : ' '}}}`;
}

/** Writes mostly what a client of the context would write. */
function written(context: Context, text: string, random: (below: number) => number): string {
  if (random(8) === 0) return text;
  switch (context) {
    case 'json':
      return random(2) === 0 ? JSON.stringify(text) : JSON.stringify(text).slice(1, -1);
    case 'form':
      return encodeURIComponent(text).replaceAll('%20', random(2) === 0 ? '+' : '%20');
    case 'path':
      return encodeURIComponent(text);
    default:
      return text;
  }
}
