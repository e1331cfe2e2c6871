import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { paste, repository } from './pasting';
import { expectShown, samplesIn, toursOf } from './samples';

const folder = join(repository, 'docs', 'examples');
const first = toursOf(samplesIn(join(folder, 'README.md')));
const examples = readdirSync(folder, { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);

it.each(examples.map(({ name }) => name))(
  'the example %s works when it is pasted, and every sample of it was',
  async (name) => {
    const samples = samplesIn(join(folder, name, 'README.md'));
    const tours = [...first, ...toursOf(samples)];
    expectShown(await paste(tours.map(({ block }) => block)), tours);
    const shown = tours.filter((tour) => tour.shown);
    expect(shown).not.toEqual([]);
    expect(samples).toHaveLength(tours.length - first.length + shown.length);
  },
);
