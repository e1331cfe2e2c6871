import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '../../k8s/monitoring');

/** One query of the rules or of the dashboard, by where it stands. */
export interface Query {
  readonly place: string;
  readonly text: string;
}

export const rulesFile = join(folder, 'rules.yaml');

export interface Alert extends Query {
  readonly severity: string;
  readonly runbook: string;
  readonly summary: string;
}

/** The alerts, in the one form in which the file has them. */
export function alerts(): readonly Alert[] {
  const text = readFileSync(rulesFile, 'utf8');
  const form =
    / {6}- alert: (\w+)\n {8}expr: \|-\n((?: {10}.*\n)+)(?: {8}for: .*\n)? {8}labels: \{ severity: (\w+) \}\n {8}annotations:\n {10}summary: '(.*)'\n {10}runbook: (\S+)\n/g;
  const found = [...text.matchAll(form)].map(([, name, query, severity, summary, runbook]) => ({
    place: name ?? '',
    text: (query ?? '').replace(/^ {10}/gm, '').trim(),
    severity: severity ?? '',
    summary: summary ?? '',
    runbook: runbook ?? '',
  }));
  const written = text.match(/- alert:/g)?.length;
  if (found.length !== written) throw new Error(`${written} alerts, of which ${found.length} read`);
  return found;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const panels = (): readonly Panel[] =>
  (JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')) as { panels: Panel[] }).panels;

/** The queries of the dashboard, with the time that Grafana would fill in. */
export const dashboardQueries = (): readonly Query[] =>
  panels().flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      place: `panel "${title}"`,
      text: expr.replaceAll('$__rate_interval', '30s'),
    })),
  );

interface Selector {
  readonly name: string;
  readonly matchers: readonly { label: string; operator: string; value: string }[];
}

/** The metrics that a query selects. */
export const selectorsOf = (query: string): readonly Selector[] =>
  [...query.matchAll(/\b((?:glovebox|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', inner = '']) => ({
      name,
      matchers: [...inner.matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)].map(
        ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
      ),
    }),
  );

/** The labels that a query groups by, joins on or leaves out. */
export const groupingsOf = (query: string): readonly string[] =>
  [...query.matchAll(/\b(?:by|on|ignoring|without) \(([^)]*)\)/g)].flatMap(([, inner = '']) =>
    inner.split(',').map((label) => label.trim()),
  );

/** The labels that legends and summaries show, with the queries that have to bring them. */
export const shownLabels = (): readonly { readonly query: Query; readonly labels: string[] }[] => [
  ...panels().flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      query: { place: `the legend of "${title}"`, text: expr },
      labels: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? ''),
    })),
  ),
  ...alerts().map((alert) => ({
    query: alert,
    labels: [...alert.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label ?? ''),
  })),
];

/** Without its comparisons, so that an alert that does not fire shows its figures as well. */
export const withoutThreshold = (query: string): string =>
  query.replace(/\babsent\(([^)]*)\)/g, '$1').replace(/(==|!=|>=|<=|>|<) (?=[\d.])/g, '$1 bool ');
