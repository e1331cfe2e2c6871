import { lazy, Suspense, type ComponentProps } from 'react';

const load = () => import('./code-mirror');
const Editor = lazy(async () => ({ default: (await load()).CodeMirror }));
const Diff = lazy(async () => ({ default: (await load()).CodeDiff }));

/** The editor is as large as the rest of the page: it is loaded where code is edited. */
export const CodeEditor = (edited: ComponentProps<typeof Editor>) => (
  <Suspense fallback={<div className="code-editor" role="status" aria-label="Loading" />}>
    <Editor {...edited} />
  </Suspense>
);

export const CodeDiff = (versions: ComponentProps<typeof Diff>) => (
  <Suspense fallback={<div className="code-editor diff" role="status" aria-label="Loading" />}>
    <Diff {...versions} />
  </Suspense>
);
