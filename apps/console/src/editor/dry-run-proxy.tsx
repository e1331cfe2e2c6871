import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Refused, send } from '../api';
import { TextArea, TextField, Tick } from '../parts/fields';
import { Lines } from '../parts/text';
import { asObject, DryRun, type Tried } from './dry-run';

interface Message {
  headers: Record<string, string | string[]>;
  body?: string;
}

interface TriedProxy extends Tried {
  request?: Message & { method: string; url: string };
  answer?: Message & { status: number };
  failed_at?: 'request' | 'answer';
}

const json = '{ "content-type": "application/json" }';

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
  const [headers, setHeaders] = useState(json);
  const [text, setText] = useState('{\n  \n}');
  const [withAnswer, setWithAnswer] = useState(false);
  const [status, setStatus] = useState('200');
  const [answerHeaders, setAnswerHeaders] = useState(json);
  const [answerText, setAnswerText] = useState('{}');
  const run = useMutation({
    mutationFn: () => {
      const [only = '/', ...query] = path.split('?');
      return send<TriedProxy>('POST', '/proxies/dry-runs', {
        ...body(),
        request: {
          method,
          path: only,
          ...(query.length > 0 && { query: query.join('?') }),
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
    <DryRun
      about={
        <>
          Shows what would leave, with the code and steps as they stand here, saved or not, and with
          the stored configuration: values that were typed and not saved are not used, and stored
          ones are shown as <code>[redacted]</code>. Nothing leaves.
        </>
      }
      run={run}
      shown={({ request, answer }) => (
        <>
          {request && (
            <>
              <h3>Would leave</h3>
              <Lines>{asHttp(`${request.method} ${request.url}`, request)}</Lines>
            </>
          )}
          {answer && (
            <>
              <h3>The caller would get</h3>
              <Lines>{asHttp(String(answer.status), answer)}</Lines>
            </>
          )}
        </>
      )}
    >
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
    </DryRun>
  );
}

function asHttp(first: string, { headers, body }: Message): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}`),
  );
  return [first, ...lines, ...(body === undefined ? [] : ['', body])].join('\n');
}
