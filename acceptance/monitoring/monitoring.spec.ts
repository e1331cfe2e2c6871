import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, devFile, runningProduct, until } from '../product';
import { prepareLoad, type Load } from './load';
import {
  alerts,
  dashboardQueries,
  groupingsOf,
  selectorsOf,
  shownLabels,
  type Query,
} from './queries';

/** One figure of a process, with its labels. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

const { opsUrls } = JSON.parse(readFileSync(devFile(), 'utf8')) as {
  readonly opsUrls: Readonly<Record<string, string>>;
};
/** Prometheus adds these. */
const added = { instance: 'one', job: 'glovebox' };

let load: Load;
let samples: readonly Sample[];

beforeAll(async () => {
  load = await prepareLoad(runningProduct());
  await load.once();
  // The end of a call is counted after its answer.
  await until(async () => {
    samples = (await Promise.all(Object.values(opsUrls).map(samplesOf))).flat();
    return samples.some(({ name }) => name === 'glovebox_worker_delivery_seconds_count');
  });
});
afterAll(() => load.close());

async function samplesOf(opsUrl: string): Promise<Sample[]> {
  const { text } = await call('GET', `${opsUrl}/metrics`);
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', inner = '']) => ({
    name,
    labels: {
      ...added,
      ...Object.fromEntries(
        [...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
      ),
    },
  }));
}

/** What a query asks for and no app has. */
function missingIn({ place, text }: Query): string[] {
  const selectors = selectorsOf(text);
  const chosen = selectors.map(({ name, matchers }) =>
    samples.filter(
      (sample) =>
        sample.name === name &&
        matchers.every(({ label, operator, value }) => {
          const is = new RegExp(`^(?:${operator.endsWith('~') ? value : escaped(value)})$`);
          return is.test(sample.labels[label] ?? '') === operator.startsWith('=');
        }),
    ),
  );
  const known = new Set(chosen.flat().flatMap(({ labels }) => Object.keys(labels)));
  const renamed = text.includes('label_replace') ? ['queue'] : [];
  return [
    ...(selectors.length === 0 ? [`${place}: no metric`] : []),
    ...selectors.flatMap(({ name }, at) =>
      chosen[at]?.length === 0 ? [`${place}: nothing of ${name} is selected`] : [],
    ),
    ...groupingsOf(text)
      .filter((label) => !known.has(label) && !renamed.includes(label))
      .map((label) => `${place}: no label ${label}`),
  ];
}

const escaped = (text: string): string => text.replace(/[^\w]/g, '\\$&');

it('rules and dashboard name only metrics, labels and values that an app has', () => {
  const queries = [...alerts(), ...dashboardQueries()];
  expect(queries.length).toBeGreaterThan(40);
  expect(queries.flatMap(missingIn)).toEqual([]);
});

it.each([
  ['glovebox_runz_total', 'nothing of glovebox_runz_total is selected'],
  ['glovebox_share_places{state="gone"}', 'nothing of glovebox_share_places is selected'],
  ['glovebox_share_places{stat="free"}', 'nothing of glovebox_share_places is selected'],
  ['sum by (shard) (glovebox_share_places)', 'no label shard'],
])('the check of names finds the mistake in %s', (text, mistake) => {
  expect(missingIn({ place: 'here', text })).toEqual([`here: ${mistake}`]);
});

it('legends and summaries show labels that their query brings', () => {
  const wrong = shownLabels().flatMap(({ query, labels }) => {
    const text = query.text.replace(/\b(?:ignoring|on) \([^)]*\)/g, '');
    const bring = new Set(groupingsOf(text));
    const isGrouped = /\b(?:sum|min|max|count)\b/.test(text);
    const matched = selectorsOf(text).flatMap(({ matchers }) => matchers.map(({ label }) => label));
    const all = isGrouped ? bring : new Set([...Object.keys(added), 'app', ...matched]);
    return labels.filter((label) => !all.has(label)).map((label) => `${query.place}: ${label}`);
  });
  expect(wrong).toEqual([]);
});

it('each alert has its chapter in docs/operating.md, and no chapter is left over', () => {
  const page = readFileSync(join(__dirname, '../../docs/operating.md'), 'utf8');
  const chapters = [...page.matchAll(/^#### (Glovebox\w+)\n\n(\S.*)/gm)].map(([, name]) => name);
  expect(chapters).toEqual(alerts().map(({ place }) => place));
  for (const { place, runbook, severity } of alerts()) {
    const [file = '', anchor] = runbook.split('#');
    expect(existsSync(join(__dirname, '../..', file))).toBe(true);
    expect(anchor).toBe(place.toLowerCase());
    expect(['page', 'look', 'note']).toContain(severity);
  }
});
