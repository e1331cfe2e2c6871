import type { Glovebox } from '@glovebox/client';
import { hostname } from 'node:os';
import { Failure } from '../failure';
import { findByName } from '../find-by-name';

/** How long the key outlives a program that was killed. */
const livesMs = 15 * 60_000;
const renewedMs = 5 * 60_000;

const soon = (): string => new Date(Date.now() + livesMs).toISOString();

/** A key that may do what an application may, until it is given back. */
export class LentKey {
  readonly #renewing = setInterval(() => void this.#renew(), renewedMs).unref();

  private constructor(
    private readonly api: Glovebox,
    private readonly id: string,
    readonly key: string,
  ) {}

  static async borrow(api: Glovebox, name: string): Promise<LentKey> {
    const { id: lender } = await findByName(api, name, ['application']);
    const params = { path: { id: lender } };
    const { permissions, rules, type } = await api.get('/applications/{id}', { params });
    if (type !== 'private') {
      throw new Failure(
        'rejected',
        `Application "${name}" is ${type}. A key is lent of a private one.`,
      );
    }
    const body = {
      name: `glovebox run on ${hostname()}`.slice(0, 200),
      type: 'private' as const,
      ...{ permissions, rules, expires_at: soon() },
    };
    const { id, key } = await api.post('/applications', { body });
    return new LentKey(api, id, key);
  }

  async #renew(): Promise<void> {
    // The next time is early enough.
    const params = { path: { id: this.id } };
    await this.api
      .patch('/applications/{id}', { params, body: { expires_at: soon() } })
      .catch(() => undefined);
  }

  async giveBack(): Promise<void> {
    clearInterval(this.#renewing);
    await this.api.delete('/applications/{id}', { params: { path: { id: this.id } } });
  }
}
