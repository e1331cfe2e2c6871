import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './manifest';

const run = promisify(execFile);
export const k8s = join(__dirname, '..');

/** What an operator may render: an overlay, and components on top of it. */
export interface Composition {
  readonly overlay: string;
  readonly components: readonly string[];
}

const overlays = readdirSync(join(k8s, 'overlays'));
const components = readdirSync(join(k8s, 'components'));

/** Each overlay, those of an operator too, each component on top of production, and two that meet. */
export const compositions: readonly Composition[] = [
  ...overlays.map((overlay) => ({ overlay, components: [] })),
  ...components
    .filter((name) => name !== 'http-route' && name !== 'pod-monitor')
    .map((name) => ({ overlay: 'production', components: [name] })),
  { overlay: 'production', components: ['ingress', 'split-paths'] },
];

export const titleOf = ({ overlay, components }: Composition): string =>
  components.length === 0 ? overlay : `${overlay} with ${components.join(', ')}`;

/** Renders them as `kubectl apply -k` does, from a copy that has secrets. */
export async function renderAll(): Promise<ReadonlyMap<string, readonly Manifest[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-k8s-'));
  try {
    cpSync(k8s, folder, { recursive: true, filter: (path) => !/\/secrets$/.test(path) });
    await run(process.execPath, [
      join(k8s, '../docker/make-secrets.mjs'),
      join(folder, 'overlays/local/secrets'),
    ]);
    const rendered = compositions.map(async (composition, index) => {
      const at = join(folder, `composition-${index}`);
      mkdirSync(at);
      writeFileSync(join(at, 'kustomization.yaml'), kustomizationOf(composition));
      return [titleOf(composition), await render(at)] as const;
    });
    return new Map(await Promise.all(rendered));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const kustomizationOf = ({ overlay, components }: Composition): string =>
  JSON.stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'glovebox',
    resources: [`../overlays/${overlay}`],
    components: components.map((name) => `../components/${name}`),
  });

async function render(folder: string): Promise<readonly Manifest[]> {
  const kubectl = process.env['TEST_KUBECTL'];
  if (!kubectl) throw new Error('Run these specs with `npm test`, which finds kubectl');
  const { stdout } = await run(kubectl, ['kustomize', folder], { maxBuffer: 64 * 1024 ** 2 });
  return manifestsIn(stdout);
}

export const manifestsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest);
