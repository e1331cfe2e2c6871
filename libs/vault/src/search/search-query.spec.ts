import { parseSearchQuery, type Condition } from './search-query';

const type = (value: string): Condition => ({ kind: 'equals', column: 'type', values: [value] });
const data = (value: string): Condition => ({ kind: 'data', value });

it.each<[string, Condition]>([
  ['type:card', type('card')],
  ['  type : card ', type('card')],
  ['data:"a b"', data('a b')],
  ['data:"say \\"hi\\" \\\\"', data('say "hi" \\')],
  ['data:"AND"', data('AND')],
  ['data:""', data('')],
  ['data:4*2', data('4*2')],
  ['metadata.order:7', { kind: 'metadata', name: 'order', value: '7' }],
  ['metadata.a.b:"x:y"', { kind: 'metadata', name: 'a.b', value: 'x:y' }],
  ['"metadata.my name":7', { kind: 'metadata', name: 'my name', value: '7' }],
  ['container:/PCI/high/', { kind: 'container', value: '/pci/high/', isPrefix: false }],
  ['container:/pci/*', { kind: 'container', value: '/pci/', isPrefix: true }],
  ['container:"/pci/*"', { kind: 'container', value: '/pci/*', isPrefix: false }],
  ['id:ABC', { kind: 'equals', column: 'id', values: ['ABC'] }],
  [
    'id:6F0D6D3A-5C0B-4B3E-9D0C-0A4C1E1F7A10',
    { kind: 'equals', column: 'id', values: ['6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10'] },
  ],
  ['type:a AND data:b', { kind: 'all', of: [type('a'), data('b')] }],
  ['type:a data:b', { kind: 'all', of: [type('a'), data('b')] }],
  ['NOT type:a', { kind: 'not', of: type('a') }],
  [
    'type:a OR type:b AND NOT type:c',
    {
      kind: 'any',
      of: [type('a'), { kind: 'all', of: [type('b'), { kind: 'not', of: type('c') }] }],
    },
  ],
  [
    '(type:a OR type:b) AND type:c',
    { kind: 'all', of: [{ kind: 'any', of: [type('a'), type('b')] }, type('c')] },
  ],
])('the query %s is parsed', (query, condition) => {
  expect(parseSearchQuery(query)).toEqual(condition);
});

const secret = '4242424242424242';

it.each([
  ['', 1],
  [secret, 17],
  ['data', 5],
  ['data:', 6],
  [':x', 1],
  [`data:${secret} AND`, 26],
  [`data:${secret} OR OR type:a`, 26],
  [`(data:${secret}`, 23],
  [`data:${secret})`, 22],
  [`data:${secret}:x`, 22],
  [`data:"${secret}`, 6],
  [`()`, 2],
  [`number:${secret}`, 1],
  [`metadata.:${secret}`, 1],
  [`type:a ${secret}:x`, 8],
])('an error in a query names a position and shows no text: %s', (query, at) => {
  const { errors } = refusalOf(query);
  expect(errors?.query?.[0]).toContain(`at character ${at}`);
  expect(JSON.stringify(errors)).not.toContain(secret);
});

it.each([
  ['long', 'type:card '.repeat(1_000)],
  ['deep', `${'('.repeat(1_000)}type:a${')'.repeat(1_000)}`],
  ['full of NOT', `${'NOT '.repeat(1_000)}type:a`],
  ['full of terms', Array(21).fill('NOT type:a').join(' ')],
  ['holding NUL', 'data:"\0"'],
])('a query that is too %s is refused', (_, query) => {
  expect(refusalOf(query).status).toBe(400);
});

it('a query may have 20 terms', () => {
  expect(parseSearchQuery(Array(20).fill('NOT type:a').join(' '))).toMatchObject({ kind: 'all' });
});

function refusalOf(query: string): { status?: number; errors?: Record<string, string[]> } {
  try {
    parseSearchQuery(query);
  } catch (error) {
    return error as { status: number; errors: Record<string, string[]> };
  }
  return {};
}
