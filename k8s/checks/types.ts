import { join } from 'node:path';
import * as ts from 'typescript';
import { nameOf, type Manifest } from './manifest';

/** Packages with the types of what is no part of Kubernetes itself. */
const packages: Readonly<Record<string, string>> = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

const file = join(__dirname, 'every-manifest.ts');
const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};

/**
 * Gives each manifest to the compiler as a value of the type of its kind: it finds unknown members,
 * missing ones, and values of a wrong type.
 */
export function typeFaults(manifests: readonly Manifest[]): readonly string[] {
  const lines = manifests.map((manifest, index) => {
    const { apiVersion, kind } = manifest;
    const [group = ''] = apiVersion.split('/');
    const from = `${packages[group] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
    return `export const m${index}: import(${JSON.stringify(from)}).I${kind} = ${JSON.stringify(manifest)};`;
  });
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, language) =>
    path === file
      ? ts.createSourceFile(path, lines.join('\n'), language)
      : getSourceFile.call(host, path, language);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start, file: found }) => {
    const line = found?.getLineAndCharacterOfPosition(start ?? 0).line ?? -1;
    const manifest = manifests[line];
    return `${manifest?.kind} ${manifest && nameOf(manifest)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}
