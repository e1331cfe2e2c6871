import { errors, type components, type Glovebox } from '@glovebox/client';
import { hostname } from 'node:os';
import type { Context } from '../context';
import { Failure } from '../failure';
import { findByName } from '../find-by-name';
import { plain } from '../terminal';

type Application = components['schemas']['Application'];

/** How long the key outlives a program that was killed. */
const livesMs = 15 * 60_000;
const renewedMs = 5 * 60_000;
/** An interruption waits for these calls. */
const makingMs = 15_000;
const givingBackMs = 10_000;

/** A key that may do what an application may, until it is given back. */
export class LentKey {
  readonly #renewing = setInterval(() => void this.#renew(), renewedMs).unref();

  private constructor(
    private readonly context: Context,
    private readonly api: Glovebox,
    private readonly lender: Application,
    private readonly id: string,
    readonly key: string,
  ) {}

  static async borrow(context: Context, name: string): Promise<LentKey> {
    const { id } = await findByName(context.api(), name, ['application']);
    const lender = await context.api().get('/applications/{id}', { params: { path: { id } } });
    if (lender.type !== 'private') {
      const message = `Application "${name}" is ${lender.type}. A key is lent of a private one.`;
      throw new Failure('rejected', message);
    }
    if (hasExpired(lender)) {
      throw new Failure('rejected', `Application "${name}" expired at ${lender.expires_at}.`);
    }
    // An interruption does not end the calls that make, renew and delete: a key would stay behind.
    const api = context.api(new AbortController().signal);
    const body = {
      name: `glovebox run on ${hostname()}`.slice(0, 200),
      type: 'private' as const,
      ...grantsOf(lender),
    };
    const made = await api.post('/applications', { body, timeoutMs: makingMs });
    return new LentKey(context, api, lender, made.id, made.key);
  }

  /** Ends the key, or says why it lives on. */
  async giveBack(): Promise<void> {
    clearInterval(this.#renewing);
    await this.#end().catch((error: unknown) => {
      const { message } = this.context.explained(error) as Error;
      this.context.terminal.say(
        `The key of the command lives for up to 15 minutes: ${plain(message)}`,
      );
    });
  }

  /** Follows the application that it is lent of. After a failure the next time is early enough. */
  async #renew(): Promise<void> {
    try {
      const params = { path: { id: this.lender.id } };
      const lender = await unlessGone(this.api.get('/applications/{id}', { params }));
      if (lender && !hasExpired(lender)) {
        const own = { path: { id: this.id } };
        await this.api.patch('/applications/{id}', { params: own, body: grantsOf(lender) });
        return;
      }
      await this.#end();
      clearInterval(this.#renewing);
      const why = lender ? 'has expired' : 'was deleted';
      const { terminal } = this.context;
      const name = plain(this.lender.name);
      terminal.say(`Application "${name}" ${why}, and the key of the command with it.`);
    } catch {
      return;
    }
  }

  async #end(): Promise<void> {
    const params = { path: { id: this.id } };
    const timeoutMs = givingBackMs;
    await unlessGone(this.api.delete('/applications/{id}', { params, timeoutMs }));
  }
}

const unlessGone = <Answer>(asking: Promise<Answer>): Promise<Answer | undefined> =>
  asking.catch((error: unknown) => {
    if (error instanceof errors.not_found) return undefined;
    throw error;
  });

const hasExpired = ({ expires_at: end }: Application): boolean =>
  end !== undefined && Date.parse(end) <= Date.now();

/** What a key may that is lent of this application: as much, and no longer. */
function grantsOf({ permissions, rules, expires_at: end }: Application) {
  const soon = Date.now() + livesMs;
  const until = end === undefined ? soon : Math.min(soon, Date.parse(end));
  return { permissions, rules, expires_at: new Date(until).toISOString() };
}
