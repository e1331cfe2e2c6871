import { useQuery } from '@tanstack/react-query';
import { get } from '../api';
import type { Capture, CapturedMessage } from '../api-types';
import { bytes } from '../format';
import { Time } from '../parts/facts';
import { Loaded } from '../parts/states';
import { Lines } from '../parts/text';

/** One call, message by message, on its way there and back. */
export function CaptureShown({ path, close }: { path: string; close: () => void }) {
  const capture = useQuery({
    queryKey: ['capture', path],
    queryFn: ({ signal }) => get<Capture>(path, signal),
    // Each reading is recorded.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  return (
    <section className="panel" aria-label="Captured call">
      <div className="section-head">
        <h3>Captured call{capture.data && <> of {<Time at={capture.data.created_at} />}</>}</h3>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <Loaded query={capture} rows={8}>
        {({ request, sent, received, answer }) => (
          <div className="messages">
            <Message title="Request, as the caller sent it" of={request} />
            <Message title="Request, as it left" of={sent} none="Nothing left." />
            <Message
              title="Answer of the destination"
              of={received}
              none={sent ? 'The destination did not answer.' : 'It was not asked.'}
            />
            <Message
              title="Answer, as the caller got it"
              of={answer}
              none={
                received ? 'As the destination gave it.' : 'An error of the gateway: see the call.'
              }
            />
          </div>
        )}
      </Loaded>
    </section>
  );
}

function Message({
  title,
  of,
  none,
}: {
  title: string;
  of: CapturedMessage | undefined;
  none?: string;
}) {
  return (
    <section aria-label={title}>
      <h4>{title}</h4>
      {of ? (
        <>
          <Lines>{asHttp(of)}</Lines>
          {of.body && <p className="quiet">{aboutBody(of.body)}</p>}
        </>
      ) : (
        <p className="empty">{none}</p>
      )}
    </section>
  );
}

function asHttp({ method, host, path, query, status, headers, body }: CapturedMessage): string {
  const target = `${host ?? ''}${path ?? ''}${query ? `?${query}` : ''}`;
  const first = status === undefined ? `${method ?? ''} ${target}` : String(status);
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [first, ...lines, ...(body?.text === undefined ? [] : ['', body.text])].join('\n');
}

function aboutBody({ type, format, bytes: size, text, cut }: NonNullable<CapturedMessage['body']>) {
  const parts = [
    `Body of ${bytes(size)}`,
    type ?? format,
    cut && 'only its beginning is kept',
    text === undefined && 'its content is not kept',
  ];
  return `${parts.filter(Boolean).join(', ')}.`;
}
