import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDestination, type Destination, type RecordedRequest } from '@glovebox/testing';
import { Interruptions } from '../interruptions';

type Body = Readonly<Record<string, unknown>>;

/** The part of the API that lends keys. It holds one application, "agent", and those that are made of it. */
export class Lender {
  readonly made = new Map<string, Body>();
  /** Undefined: it was deleted. */
  agent: Body | undefined = {
    ...{ id: 'of-the-agent', name: 'Agent', slug: 'agent', type: 'private', rules: [] },
    permissions: ['token:use'],
  };
  /** Is waited for before an application is made. */
  making: () => void | Promise<void> = () => undefined;
  /** Is waited for before the certificate authority is shown. */
  showing: () => Promise<unknown> = () => Promise.resolve();
  /** Whether the key of the author may no longer do anything. */
  refusing = false;

  private constructor(private readonly server: Destination) {}

  static async start(): Promise<Lender> {
    const server = await startDestination(async (request, response) => {
      const { status, body } = await lender.#answer(request);
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
    const lender = new Lender(server);
    return lender;
  }

  get url(): string {
    return this.server.url;
  }

  /** All calls so far, and the keys that they came with. */
  get calls(): readonly (readonly [call: string, key: unknown])[] {
    return this.server.requests.map(({ method, url, headers }) => [
      `${method} ${url.replace(/\?.*$/, '')}`,
      headers['svc-api-key'],
    ]);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  async #answer(request: RecordedRequest): Promise<{ status: number; body?: object | undefined }> {
    if (this.refusing) return problem(403, 'permission_denied');
    const [path = '', id = ''] = /\/applications(?:\/([\w-]+))?/.exec(request.url) ?? [];
    if (request.url.endsWith('/forward-ca')) {
      await this.showing();
      return { status: 200, body: { certificates: 'PEM' } };
    }
    if (request.method === 'POST') {
      await this.making();
      const made = { ...(request.json() as Body), id: `lent-${this.made.size}` };
      this.made.set(made.id, made);
      return { status: 201, body: { ...made, key: 'key_that_is_lent' } };
    }
    if (path === '/applications') {
      return { status: 200, body: { data: this.agent ? [this.agent] : [], pagination: {} } };
    }
    const found = id === 'of-the-agent' ? this.agent : this.made.get(id);
    if (!found)
      return { status: 404, body: { code: 'not_found', status: 404, title: 'Not found' } };
    if (request.method === 'GET') return { status: 200, body: found };
    if (request.method === 'DELETE') this.made.delete(id);
    else this.made.set(id, { ...found, ...(request.json() as Body) });
    return { status: 204 };
  }
}

const problem = (status: number, code: string) => ({ status, body: { status, code, title: code } });

/** A folder of an author, with a profile, for as long as a spec runs. */
export class AuthorsFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'glovebox-author-'));
  readonly env = { XDG_CONFIG_HOME: this.path };

  store(profile: object): void {
    mkdirSync(join(this.path, 'glovebox'), { recursive: true });
    writeFileSync(
      join(this.path, 'glovebox', 'profiles.json'),
      JSON.stringify({ default: profile }),
    );
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

/** Signals that a spec sends. The program never exits at once. */
export function interruptionsOf(exit: (code: unknown) => void = () => undefined) {
  const system = Object.assign(new EventEmitter(), { exit });
  const interruptions = new Interruptions(system as unknown as NodeJS.Process);
  return { interruptions, send: (name: NodeJS.Signals) => void system.emit(name) };
}

/** Ends a command that a failed spec has left running. */
export function endLeft(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
