import { useMemo, useState } from 'react';
import { Refused } from '../api';
import type { Runtime, Transform } from '../api-types';
import { Choice, TextArea } from '../parts/fields';
import { Section } from '../parts/screen';
import { useUnsaved } from '../parts/unsaved';
import { UploadedCode } from '../parts/uploaded-code';
import { CodeEditor } from './code';
import { namesOfTransform } from './complete-names';
import { faultAt, faultsOf } from './faults';
import { runtimes } from './formula-editor';

interface Edit {
  which: 'request' | 'response';
  value: Transform | null | undefined;
  change: (transform: Transform | null) => void;
  error: Error | null | undefined;
  configuration: readonly string[];
  isReadOnly: boolean;
  line?: number | undefined;
}

const beginning = `module.exports = async function ({ args, configuration, svc }) {
  return { headers: args.headers, body: args.body };
};
`;

/** The code that changes one of the messages of a proxy, if there is any. */
export function TransformEditor({
  which,
  value,
  change,
  error,
  configuration,
  isReadOnly,
  line,
}: Edit) {
  const faults = useMemo(() => (error instanceof Refused ? faultsOf(error.problem) : []), [error]);
  const names = useMemo(
    () => namesOfTransform(which, configuration),
    [which, configuration.join('\n')],
  );
  const title = which === 'request' ? 'Code for the request' : 'Code for the answer';
  const action = value
    ? { words: 'Remove code', do: () => change(null) }
    : { words: 'Add code', do: () => change({ code: beginning, runtime: 'node24' }) };
  const fault = faultAt(error, `${which}_transform`, `${which}_transform.code`);
  return (
    <Section
      title={title}
      actions={
        !isReadOnly && (
          <button type="button" onClick={action.do}>
            {action.words}
            <span className="unseen"> for the {which === 'request' ? which : 'answer'}</span>
          </button>
        )
      }
    >
      {value ? (
        <>
          <div className="row">
            <Choice
              label="Runtime"
              value={value.runtime ?? 'node16'}
              choices={runtimes}
              isReadOnly={isReadOnly}
              change={(runtime) => change({ ...value, runtime: runtime as Runtime })}
            />
          </div>
          {value.code === undefined ? (
            <UploadedCode sha256={value.code_sha256} />
          ) : (
            <CodeEditor
              label={title}
              value={value.code}
              change={(code) => change({ ...value, code })}
              faults={faults}
              names={names}
              isReadOnly={isReadOnly}
              line={line}
            />
          )}
        </>
      ) : (
        <p className="empty">There is none.</p>
      )}
      {fault !== undefined && <p className="bad fault">{fault}</p>}
    </Section>
  );
}

/** Steps without code, as the API takes them. */
export function Steps({
  label,
  value,
  change,
  isReadOnly,
}: {
  label: string;
  value: unknown[] | undefined;
  change: (steps: unknown[]) => void;
  isReadOnly: boolean;
}) {
  const given = JSON.stringify(value ?? [], null, 2);
  const [typed, setTyped] = useState<{ text: string; of: string }>();
  // Discarded, or saved and read again: what was typed is of another list.
  const text = typed?.of === given ? typed.text : given;
  const isList = listIn(text) !== undefined;
  useUnsaved(!isList);
  const type = (next: string) => {
    const steps = listIn(next);
    if (steps) change(steps);
    setTyped({ text: next, of: steps ? JSON.stringify(steps, null, 2) : given });
  };
  return (
    <TextArea
      label={label}
      rows={Math.min(14, text.split('\n').length + 1)}
      value={text}
      change={type}
      isReadOnly={isReadOnly}
      fault={isList ? undefined : 'This is not a JSON list yet: it is not taken.'}
      hint={
        text.includes('"value_set"') && (
          <>
            A step with <code>value_set</code> and no <code>value</code> keeps the stored value of
            its place. Write a <code>value</code> to set it anew.
          </>
        )
      }
    />
  );
}

function listIn(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
