import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { paste, repository } from './pasting';
import { samplesIn, toursOf } from './samples';

const readme = join(repository, 'README.md');

it('the tour of the README works when it is pasted', () => {
  const output = paste(toursOf(samplesIn(readme)).map(({ block }) => block)).join('');
  // The answer shows the token without its data; the destination has seen the card, and the reactor
  // its end.
  const [token = '', rest = ''] = output.split('}{', 1).concat(output.slice(output.indexOf('}{')));
  expect(token).toContain('"type":"token"');
  expect(token).not.toContain('4242');
  expect(rest).toContain('4242424242424242');
  expect(rest).toContain('{"raw":{"last4":"4242"}}');
  expect(rest).toContain('async_request_id');
  expect(rest).toMatch(/webhook-signature/);
});

it('every command of package.json that the README names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = readFileSync(readme, 'utf8').matchAll(/(?:^|`)npm (?:run )?([a-z:]+)/gm);
  for (const [, name] of named) {
    if (name !== undefined) expect(scripts).toHaveProperty([name]);
  }
});
