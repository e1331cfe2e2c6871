import type { Rule } from '../api-types';
import { rightsLost } from './rights-lost';

const rule = (
  container: string,
  transform: Rule['transform'],
  permissions = ['token:read'],
  priority = 1,
): Rule => ({ description: '', container, transform, permissions, priority });
const rights = (permissions: string[], ...rules: Rule[]) => ({ permissions, rules });
const inWords = (...given: Parameters<typeof rightsLost>) =>
  rightsLost(...given).map(
    ({ permission, container, before, after }) => `${permission} ${container} ${before}→${after}`,
  );

it('rights that stay, or grow, are not told as lost', () => {
  const before = rights(['token:read'], rule('/pci/', 'mask'));
  expect(inWords(before, before)).toEqual([]);
  expect(inWords(before, rights(['token:read', 'token:use'], rule('/pci/', 'reveal')))).toEqual([]);
  // The permission alone shows as much as the rule did.
  expect(inWords(before, rights(['token:read']))).toEqual([]);
});

it('a permission that goes is told once, and where a rule still gives it, not', () => {
  const kept = rule('/pci/', 'reveal');
  expect(inWords(rights(['token:read']), rights([]))).toEqual(['token:read / mask→nothing']);
  expect(inWords(rights(['token:read'], kept), rights([], kept))).toEqual([
    'token:read / mask→nothing',
  ]);
});

it('what goes everywhere is told once, with the containers where it was more', () => {
  const before = rights(['token:read'], rule('/pci/', 'reveal'), rule('/general/', 'mask'));
  expect(inWords(before, rights([]))).toEqual([
    'token:read / mask→nothing',
    'token:read /pci/ reveal→nothing',
  ]);
});

it('a rule that goes, shows less, or comes later than another one is told by its container', () => {
  const before = rights(['token:read'], rule('/pci/high/', 'reveal'));
  expect(inWords(before, rights(['token:read']))).toEqual(['token:read /pci/high/ reveal→mask']);
  expect(inWords(before, rights(['token:read'], rule('/pci/high/', 'redact')))).toEqual([
    'token:read /pci/high/ reveal→redact',
  ]);
  const overruled = [rule('/', 'redact', ['token:read'], 1), rule('/pci/', 'reveal', undefined, 2)];
  const [all, cards] = overruled as [Rule, Rule];
  const first = rights([], { ...all, priority: 3 }, cards);
  expect(inWords(first, rights([], all, cards))).toEqual(['token:read /pci/ reveal→redact']);
});

it('a token that is used needs no rule to be whole', () => {
  expect(inWords(rights(['token:use']), rights([], rule('/', 'mask', ['token:use'])))).toEqual([
    'token:use / reveal→mask',
  ]);
});
