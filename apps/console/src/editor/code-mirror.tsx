import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import { linter, lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { MergeView } from '@codemirror/merge';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { Position } from '../api-types';
import { completeNames, type KnownNames } from './complete-names';

export interface Fault extends Partial<Position> {
  message: string;
}

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', minHeight: '18rem' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 28%, transparent) !important',
  },
  '.cm-matchingBracket': { outline: '1px solid var(--edge)', backgroundColor: 'transparent' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--edge)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--accent-text)',
    backgroundColor: 'var(--accent)',
  },
});

const diffTheme = EditorView.theme({
  '.cm-scroller': { minHeight: '0' },
  '.cm-collapsedLines': { color: 'var(--quiet)', background: 'var(--sunken)' },
  // Signs that few fonts have.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '""' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--diff-gone)' },
  '&.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--diff-new)' },
  '&.cm-merge-a .cm-changedText, &.cm-merge-b .cm-changedText': {
    background: 'none',
    textDecoration: 'underline',
  },
});

const colors = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--code-keyword)' },
    { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
    { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  ]),
);

/** Where the code stops being JavaScript, while it is typed. The API says what is wrong there. */
const syntaxErrors = linter(({ state }) => {
  const found: Diagnostic[] = [];
  syntaxTree(state).iterate({
    enter: ({ type, from, to }) => {
      if (!type.isError || found.length > 0) return;
      found.push({ from, to: Math.max(to, from), severity: 'error', message: 'Syntax error' });
    },
  });
  return found;
});

/** Names hidden characters in place: code that looks like other code is a trick. */
const hiddenCharacters = highlightSpecialChars({ addSpecialChars: /\p{Cf}/gu });

const shared: Extension = [lineNumbers(), theme, colors, javascript(), hiddenCharacters];

interface Edited {
  label: string;
  value: string;
  change: (value: string) => void;
  faults: readonly Fault[];
  names: KnownNames;
  isReadOnly: boolean;
  /** The line to begin at. */
  line?: number | undefined;
}

/** An editor in a shadow root: there its styles are sheets of its own, which the policy allows. */
export function CodeMirror({ label, value, change, faults, names, isReadOnly, line }: Edited) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ change, names });
  latest.current = { change, names };

  useEffect(() => {
    if (!host.current) return;
    const root = shadowOf(host.current);
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          shared,
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          indentOnInput(),
          lintGutter(),
          syntaxErrors,
          autocompletion({
            icons: false,
            override: [(context) => completeNames(context, latest.current.names)],
          }),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorState.readOnly.of(isReadOnly),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.change(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    if (line !== undefined && line <= editor.state.doc.lines) {
      const { from } = editor.state.doc.line(line);
      editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from) });
    }
    return () => editor.destroy();
    // One editor for as long as it is shown: it holds the history and the cursor.
  }, [isReadOnly]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { doc } = editor.state;
    editor.dispatch(
      setDiagnostics(
        editor.state,
        faults.map((fault) => diagnosticAt(doc, fault)),
      ),
    );
  }, [faults]);

  return <div ref={host} className="code-editor" />;
}

/** Two versions side by side. */
export function CodeDiff({ before, after }: { before: string; after: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) return;
    const root = shadowOf(host.current);
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        diffTheme,
        shared,
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({
          'aria-label': label,
          'aria-readonly': 'true',
          tabindex: '0',
        }),
      ],
    });
    const merge = new MergeView({
      root,
      parent: root,
      a: side(before, 'Before'),
      b: side(after, 'After'),
      gutter: false,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    return () => merge.destroy();
  }, [before, after]);
  return <div ref={host} className="code-editor diff" />;
}

const shadowOf = (host: HTMLElement) => host.shadowRoot ?? host.attachShadow({ mode: 'open' });

function diagnosticAt(doc: Text, { line = 1, column = 1, message }: Fault): Diagnostic {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const at = Math.min(from + column - 1, to);
  return { from: at, to: Math.max(at, Math.min(at + 1, to)), severity: 'error', message };
}
