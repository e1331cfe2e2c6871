// npm run docs: writes the generated parts of docs/.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { aliases, buildStaleApps } from './build.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { entryPoint, repoRoot } from './lib/repo.mjs';

const help = `
npm run docs               writes docs/openapi.json, the types of libs/client that are made of it, the tables
                           of docs/configuration.md, and k8s/monitoring/prometheus-rule.yaml from rules.yaml beside it
npm run docs -- --check    writes nothing; says which of them is out of date, and ends with 1
npm run docs -- --types    prints the types of docs/openapi.json alone`;

/**
 * @typedef {{
 *   doc: string,
 *   fallback: unknown,
 *   required: boolean,
 *   secret: boolean,
 *   range?: { min: number, max: number },
 * }} Setting
 */

const apps = ['gateway', 'management-api', 'worker', 'runner'];

await script(help, async (args) => {
  if (args.includes('--types')) {
    process.stdout.write(await clientTypes(JSON.parse(current('docs/openapi.json'))));
    return;
  }
  const document = await openApi();
  /** @type {Record<string, string>} */
  const wanted = {
    'docs/openapi.json': await formatted('docs/openapi.json', document),
    'libs/client/src/api.ts': await clientTypes(JSON.parse(document)),
    'docs/configuration.md': await formatted('docs/configuration.md', await configuration()),
    'k8s/monitoring/prometheus-rule.yaml': prometheusRule(),
  };
  const stale = Object.keys(wanted).filter((file) => current(file) !== wanted[file]);
  if (args.includes('--check')) {
    if (stale.length > 0) throw new Trouble(`Out of date: ${stale.join(', ')}. Run: npm run docs`);
    return;
  }
  for (const file of stale) writeFileSync(join(repoRoot, file), wanted[file] ?? '');
  console.log(stale.length === 0 ? 'Nothing to change.' : `Wrote ${stale.join(', ')}`);
});

/**
 * The text as `npm run format` would leave it.
 *
 * @param {string} file
 * @param {string} text
 */
async function formatted(file, text) {
  const { format } = await import('oxfmt');
  const { code, errors } = await format(file, text, { printWidth: 100, singleQuote: true });
  if (errors.length > 0) throw new Trouble(`${file}: ${errors[0]?.message}`);
  return code;
}

/** @param {string} file */
function current(file) {
  try {
    return readFileSync(join(repoRoot, file), 'utf8');
  } catch {
    return '';
  }
}

/** The document that the management API serves at /docs/openapi.json. */
async function openApi() {
  await buildStaleApps(['apps/management-api']);
  const entry = entryPoint('management-api', 'openapi.main.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry], { encoding: 'utf8' });
  if (status !== 0) throw new Trouble(`The document could not be made:\n${stderr}`);
  return stdout;
}

/**
 * The types of the client, and the codes of errors.
 *
 * @param {any} document
 */
async function clientTypes(document) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
  const codes = document.components.schemas.Problem.properties.code.enum;
  return [
    '// Made of docs/openapi.json by npm run docs.',
    types,
    `export const problemCodes = ${JSON.stringify(codes, null, 2)} as const;`,
    '',
  ].join('\n');
}

/** The rules as the Prometheus Operator wants them. */
function prometheusRule() {
  const rules = current('k8s/monitoring/rules.yaml').replace(/^#.*\n/gm, '');
  return [
    '# Made from rules.yaml by npm run docs.',
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    '  name: glovebox',
    'spec:',
    rules.replace(/^(?=.)/gm, '  '),
  ].join('\n');
}

/** The page with a new table in each pair of marks: <!-- settings: APP --> … <!-- end --> */
async function configuration() {
  const page = current('docs/configuration.md');
  const settings = await loadSettings();
  return page.replaceAll(
    /(<!-- settings: (\S+) -->\n)[^]*?(<!-- end -->)/g,
    (_, begin, app, end) => `${begin}\n${table(settings[app] ?? {})}\n\n${end}`,
  );
}

/**
 * The declarations of all apps, as their config.ts exports them.
 *
 * @returns {Promise<Record<string, Record<string, Setting>>>}
 */
async function loadSettings() {
  const { build, stop } = await import('esbuild');
  mkdirSync(join(repoRoot, 'dist'), { recursive: true });
  // Inside the repository, so that imports of packages resolve.
  const folder = mkdtempSync(join(repoRoot, 'dist', 'docs-'));
  try {
    await build({
      absWorkingDir: repoRoot,
      entryPoints: Object.fromEntries(apps.map((app) => [app, `apps/${app}/src/config.ts`])),
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      alias: aliases(),
      logLevel: 'warning',
    });
    const loaded = await Promise.all(
      apps.map((app) => import(pathToFileURL(join(folder, `${app}.mjs`)).href)),
    );
    return Object.fromEntries(apps.map((app, index) => [app, loaded[index].settings]));
  } finally {
    await stop();
    rmSync(folder, { recursive: true });
  }
}

/** @param {Record<string, Setting>} settings */
function table(settings) {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const shown = setting.required ? `**\`${name}\`**` : `\`${name}\``;
    return `| ${shown} | ${defaultOf(setting)} | ${describe(setting)} |`;
  });
  return ['| Variable | Default | Is |', '| --- | --- | --- |', ...rows].join('\n');
}

/** @param {Setting} setting */
function defaultOf({ fallback }) {
  const text = String(fallback ?? '');
  return text === '' ? '' : `\`${text}\``;
}

/** @param {Setting} setting */
function describe({ doc, range, secret }) {
  const number = new Intl.NumberFormat('en');
  const limits = range ? ` (${number.format(range.min)} to ${number.format(range.max)})` : '';
  return `${doc.replaceAll(/[|<*]/g, '\\$&')}${limits}${secret ? '. Secret' : ''}`;
}
