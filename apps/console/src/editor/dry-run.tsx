import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Refused, send } from '../api';
import type { ConsoleLine, Position, Problem } from '../api-types';
import { milliseconds } from '../format';
import { ConsoleLines } from '../parts/console-lines';
import { TextArea, TextField, Tick } from '../parts/fields';
import { ProblemBox } from '../parts/states';
import { Json, Lines, Text } from '../parts/text';
import { useMay } from '../session';
import { positionInWords } from '../why';

interface Tried {
  status: 'completed' | 'failed';
  error?: Problem & { message?: string; stack?: (Position & { function?: string })[] };
  lines: (ConsoleLine & { side?: string })[];
  duration_ms: number;
}

interface TriedReactor extends Tried {
  result?: unknown;
}

interface Message {
  headers: Record<string, string | string[]>;
  body?: string;
}

interface TriedProxy extends Tried {
  request?: Message & { method: string; url: string };
  answer?: Message & { status: number };
  failed_at?: 'request' | 'answer';
}

/** Runs what is in the editor, in the real sandbox, and changes nothing. */
export function DryRunReactor({
  body,
  failed,
}: {
  body: () => object;
  failed: (error: Error | undefined) => void;
}) {
  const [args, setArgs] = useState('{\n  \n}');
  const [network, setNetwork] = useState(false);
  const [svc, setSvc] = useState(false);
  const mayUse = useMay('token:use');
  const run = useMutation({
    mutationFn: () =>
      send<TriedReactor>('POST', '/reactors/dry-runs', {
        ...body(),
        args: asObject(args),
        network,
        svc,
      }),
    onSuccess: ({ error }) => failed(error && new Refused(error, undefined)),
    onError: failed,
  });
  return (
    <form
      className="panel"
      aria-label="Dry run"
      onSubmit={(event) => {
        event.preventDefault();
        run.mutate();
      }}
    >
      <p className="quiet">
        Runs the code as it stands in the editor, with the configuration that is stored. It is
        recorded in the audit log.
      </p>
      <TextArea label="args (JSON)" value={args} change={setArgs} />
      <Tick
        label="With the network: requests of the code really leave"
        value={network}
        change={setNetwork}
      />
      {mayUse && (
        <Tick
          label="With svc: tokens are really made, changed and read"
          value={svc}
          change={setSvc}
        />
      )}
      <div className="row">
        <button type="submit" disabled={run.isPending}>
          {run.isPending ? 'Running…' : 'Dry run'}
        </button>
      </div>
      <div aria-live="polite">
        <ProblemBox error={run.error} />
        {run.data && (
          <>
            <Ending of={run.data} />
            {run.data.result !== undefined && <Json value={run.data.result} />}
            <h3>Output</h3>
            <ConsoleLines lines={run.data.lines} />
          </>
        )}
      </div>
    </form>
  );
}

/** Shows what would leave and what the caller would get. Nothing leaves. */
export function DryRunProxy({
  body,
  failed,
}: {
  body: () => object;
  failed: (at: 'request' | 'answer' | undefined, error: Error | undefined) => void;
}) {
  const [method, setMethod] = useState('POST');
  const [path, setPath] = useState('/');
  const [headers, setHeaders] = useState('{ "content-type": "application/json" }');
  const [text, setText] = useState('{\n  \n}');
  const [withAnswer, setWithAnswer] = useState(false);
  const [status, setStatus] = useState('200');
  const [answerHeaders, setAnswerHeaders] = useState('{ "content-type": "application/json" }');
  const [answerText, setAnswerText] = useState('{}');
  const run = useMutation({
    mutationFn: () => {
      const [only = '/', query] = path.split('?');
      return send<TriedProxy>('POST', '/proxies/dry-runs', {
        ...body(),
        request: {
          method,
          path: only,
          ...(query && { query }),
          headers: asObject(headers),
          body: text,
        },
        ...(withAnswer && {
          answer: { status: Number(status), headers: asObject(answerHeaders), body: answerText },
        }),
      });
    },
    onSuccess: ({ failed_at, error }) => failed(failed_at, error && new Refused(error, undefined)),
    onError: (error) => failed('request', error),
  });
  return (
    <form
      className="panel"
      aria-label="Dry run"
      onSubmit={(event) => {
        event.preventDefault();
        run.mutate();
      }}
    >
      <p className="quiet">
        Shows what would leave, with the code and steps as they stand here, saved or not. Nothing
        leaves. It is recorded in the audit log.
      </p>
      <div className="fields">
        <TextField label="Method" value={method} change={setMethod} />
        <TextField label="Path and query" value={path} change={setPath} />
      </div>
      <TextArea
        label="Headers of the request (JSON)"
        rows={2}
        value={headers}
        change={setHeaders}
      />
      <TextArea label="Body of the request" rows={5} value={text} change={setText} />
      <Tick label="With an answer of the destination" value={withAnswer} change={setWithAnswer} />
      {withAnswer && (
        <>
          <TextField label="Status of the answer" type="number" value={status} change={setStatus} />
          <TextArea
            label="Headers of the answer (JSON)"
            rows={2}
            value={answerHeaders}
            change={setAnswerHeaders}
          />
          <TextArea label="Body of the answer" rows={5} value={answerText} change={setAnswerText} />
        </>
      )}
      <div className="row">
        <button type="submit" disabled={run.isPending}>
          {run.isPending ? 'Running…' : 'Dry run'}
        </button>
      </div>
      <div aria-live="polite">
        <ProblemBox error={run.error} />
        {run.data && (
          <>
            <Ending of={run.data} />
            {run.data.request && (
              <>
                <h3>Would leave</h3>
                <Lines>
                  {asHttp(`${run.data.request.method} ${run.data.request.url}`, run.data.request)}
                </Lines>
              </>
            )}
            {run.data.answer && (
              <>
                <h3>The caller would get</h3>
                <Lines>{asHttp(String(run.data.answer.status), run.data.answer)}</Lines>
              </>
            )}
            <h3>Output</h3>
            <ConsoleLines lines={run.data.lines} />
          </>
        )}
      </div>
    </form>
  );
}

function Ending({ of: { status, error, duration_ms } }: { of: Tried }) {
  if (status === 'completed' || error === undefined) {
    return (
      <p className="notice good">
        <strong>Completed</strong> in {milliseconds(duration_ms)}.
      </p>
    );
  }
  return (
    <div className="notice bad">
      <strong>Failed{error.position && ` at ${positionInWords(error.position)}`}.</strong>{' '}
      <Text>{error.message ?? error.detail ?? error.title}</Text>
      {error.stack && error.stack.length > 0 && (
        <ol className="stack">
          {error.stack.map((call, index) => (
            <li key={index}>
              <code>
                <Text>{call.function ?? 'anonymous'}</Text>
              </code>{' '}
              {positionInWords(call)}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function asObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('This has to be a JSON object.');
  }
  return value;
}

function asHttp(first: string, { headers, body }: Message): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}`),
  );
  return [first, ...lines, ...(body === undefined ? [] : ['', body])].join('\n');
}
