import { execFileSync } from 'node:child_process';
import { tour, tourText } from './tour.mjs';

it('the tour is made of the blocks of the page, each with its paragraph and its output', () => {
  const page = [
    '# Page\n\nNot this.\n',
    'Store a `card`. See [the\nstandard](https://example.com).\n',
    '```sh tour\nT=1\necho "$T"\n```\n',
    '```json output\n{ "id": "…" }\n```\n',
    'Not that.\n\n```sh\nnpm test\n```\n',
    'Go on.\n\n```sh tour\ntrue\n```\n',
  ].join('\n');
  const steps = tour(page);
  expect(steps).toEqual([
    {
      comment: 'Store a card. See the\nstandard (https://example.com).',
      command: 'T=1\necho "$T"',
      output: '{ "id": "…" }',
    },
    { comment: 'Go on.', command: 'true' },
  ]);
  expect(tourText(steps)).toBe(
    [
      ...['# Store a card. See the', '# standard (https://example.com).'],
      ...['T=1', 'echo "$T"', '#   { "id": "…" }', '', '# Go on.', 'true'],
    ].join('\n'),
  );
});

it('the tour of the README can be read by a POSIX shell as it is printed', () => {
  execFileSync('sh', ['-n', '-c', tourText(tour())]);
});

it('each step of the tour of the README says what it is for, and all but the first show their output', () => {
  const steps = tour();
  expect(steps.length).toBeGreaterThan(4);
  expect(steps.filter(({ comment }) => comment === '')).toEqual([]);
  expect(steps.slice(1).filter(({ output }) => output === undefined)).toEqual([]);
  for (const { output = '{}' } of steps) expect(() => JSON.parse(output)).not.toThrow();
});

it('no command of the tour has a comment at its end, which zsh would take for words', () => {
  for (const { command } of tour()) expect(command).not.toMatch(/\s#/);
});
