import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@glovebox/testing';
import { call, devFile, runningProduct, until } from '../product';
import { findProgram } from '../find-program';
import { prepareLoad, type Load } from './load';
import { alerts, dashboardQueries, rulesFile, withoutThreshold } from './queries';

jest.setTimeout(180_000);

const { opsUrls } = JSON.parse(readFileSync(devFile(), 'utf8')) as {
  readonly opsUrls: Readonly<Record<string, string>>;
};

let folder: string;
let load: Load;
let prometheus: ChildProcess;
let exited: Promise<unknown>;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'glovebox-prometheus-'));
  load = await prepareLoad(runningProduct());
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const config = join(folder, 'prometheus.yml');
  const targets = Object.values(opsUrls).map((opsUrl) => new URL(opsUrl).host);
  // JSON is YAML as well.
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rulesFile],
      scrape_configs: [{ job_name: 'glovebox', static_configs: [{ targets }] }],
    }),
  );
  prometheus = spawn(
    findProgram('prometheus', 'PROMETHEUS', 'prometheus'),
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  exited = once(prometheus, 'exit');
  await until(async () => (await call('GET', `${url}/-/ready`)).status === 200, 30_000);
});

afterAll(async () => {
  prometheus.kill('SIGTERM');
  await exited;
  await load.close();
  rmSync(folder, { recursive: true, force: true });
});

async function found(query: string): Promise<readonly unknown[]> {
  const asked = `${url}/api/v1/query?query=${encodeURIComponent(query)}`;
  const { status, text, body } = await call('GET', asked);
  if (status !== 200) throw new Error(`${query}: ${text}`);
  const { result } = body.data as { result: { value: readonly [number, string] }[] };
  // 0 / 0 is no figure.
  return result.filter(({ value: [, figure] }) => figure !== 'NaN');
}

it('promtool accepts the rules', () => {
  const said = execFileSync(findProgram('promtool', 'PROMTOOL', 'prometheus'), [
    'check',
    'rules',
    rulesFile,
  ]);
  expect(String(said)).toContain(`${alerts().length} rules found`);
});

it('no query of rules and dashboard is empty while a Prometheus scrapes the product under load', async () => {
  const queries = [...alerts(), ...dashboardQueries()];
  let empty: string[] = [];
  await until(async () => {
    await load.once();
    const results = await Promise.all(queries.map(({ text }) => found(withoutThreshold(text))));
    empty = queries.flatMap(({ place, text }, at) =>
      results[at]?.length === 0 ? [`${place}: ${text}`] : [],
    );
    return empty.length === 0;
  }, 60_000).catch(() => undefined);
  expect(empty).toEqual([]);
});

it('the rules are evaluated without an error, and none pages about a healthy product', async () => {
  await until(async () => {
    const { body } = await call('GET', `${url}/api/v1/rules`);
    const { groups } = body.data as {
      groups: { rules: { name: string; health: string; state: string; labels: object }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules).toHaveLength(alerts().length);
    const paging = rules.filter(({ state }) => state === 'firing');
    expect(paging).toEqual([]);
    return rules.every(({ health }) => health === 'ok');
  });
});
