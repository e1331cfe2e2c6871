import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { devFile } from '../product';
import { paste, repository } from './pasting';
import { expectJson, expectShown, samplesIn, toursOf } from './samples';

interface Step {
  readonly comment: string;
  readonly command: string;
  readonly output?: string;
}

const readme = join(repository, 'README.md');
const text = readFileSync(readme, 'utf8');
const tour = toursOf(samplesIn(readme));
const { tour: steps } = JSON.parse(readFileSync(devFile(), 'utf8')) as { tour: readonly Step[] };

it('npm start has the tour of the README: the same commands, and the output that the page shows', () => {
  expect(steps.map(({ command, output }) => [command, output])).toEqual(
    tour.map(({ block, shown }) => [block, shown?.text]),
  );
});

it('each command of the tour answers what the README shows', async () => {
  expect(tour.filter(({ shown }) => shown)).toHaveLength(5);
  expectShown(await paste(tour.map(({ block }) => block)), tour);
});

it('the tour works when it is pasted as npm start prints it, texts and outputs included', async () => {
  const modulePath = join(repository, 'tools/lib/tour.mjs');
  const print = `import(process.argv[1]).then(({ tour, tourText }) => console.log(tourText(tour())))`;
  const printed = execFileSync(process.execPath, ['-e', print, modulePath], { encoding: 'utf8' });
  const [output = ''] = await paste([printed]);
  const last = output.slice(output.lastIndexOf('\n[') + 1);
  expectJson(last, steps.at(-1)?.output ?? '');
  expect(output).toContain('{"raw":{"last4":"4242"}}');
});

it('every command of package.json that the README names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = text.matchAll(/(?:^|`)npm (?:run )?([a-z:]+)/gm);
  for (const [, name] of named) {
    if (name !== undefined) expect(scripts).toHaveProperty([name]);
  }
});

it('the help of npm start, docs/configuration.md and the README name the same options', () => {
  const start = join(repository, 'tools/start.mjs');
  const help = execFileSync(process.execPath, [start, '--help'], { encoding: 'utf8' });
  const configuration = readFileSync(join(repository, 'docs/configuration.md'), 'utf8');
  const begin = configuration.indexOf('## npm start');
  const section = configuration.slice(begin, configuration.indexOf('\n## ', begin + 1));
  const optionsIn = (page: string, form: RegExp): Set<string> =>
    new Set([...page.matchAll(form)].map(([, name = '']) => name));
  const known = optionsIn(help, /^ {2}(--[a-z]+)/gm);
  expect(known.size).toBe(5);
  expect(optionsIn(section, /^\| `(--[a-z]+)/gm)).toEqual(known);
  for (const option of optionsIn(text, /npm start -- (--[a-z]+)/g)) expect(known).toContain(option);
  const variables = optionsIn(section, /^\| `([A-Z_]+)`/gm);
  expect(variables.size).toBeGreaterThan(10);
  for (const variable of variables) expect(help).toContain(variable);
});
