import { GloveboxError, NoAnswer } from '@glovebox/client';

const timeoutMs = 30_000;

interface Asked {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly body?: object;
  readonly key?: string;
  readonly signal: AbortSignal;
}

/** A call of the console's own: it signs machines in, and is not of the API. */
export async function callConsole<Answer>(
  url: string,
  path: string,
  { method, body, key, signal }: Asked,
): Promise<Answer> {
  const headers = {
    ...(key === undefined ? {} : { 'SVC-API-KEY': key }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const init = { method, headers, redirect: 'error', signal: within } as const;
  try {
    const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, sent);
    const text = await answer.text();
    if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
    throw refusalIn(text) ?? new NoAnswer(`${answer.status} of something that is no console.`);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof GloveboxError || error instanceof NoAnswer) throw error;
    throw new NoAnswer('No answer came.', { cause: error });
  }
}

function refusalIn(text: string): GloveboxError | undefined {
  try {
    const problem = JSON.parse(text) as GloveboxError['problem'] | null;
    return typeof problem?.code === 'string' ? new GloveboxError(problem) : undefined;
  } catch {
    return undefined;
  }
}
