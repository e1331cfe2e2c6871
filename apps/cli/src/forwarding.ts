import type { components } from '@glovebox/client';
import { verifyWebhook, WebhookVerificationError } from '@glovebox/client/webhooks';
import { isInTheClear } from './connection';
import type { Context } from './context';
import { usage } from './failure';
import { whyNot } from './failure-of-call';
import { plain } from './terminal';

type Copy = components['schemas']['WebhookCopies']['data'][number];
/** A copy that was sent, by its number. */
type Sent = Required<Pick<Copy, 'webhook_id' | 'headers' | 'body'>> & { readonly nth: number };

const answerMs = 30_000;
const atOnce = 4;
/** Copies that can be sent again. */
const keptMax = 50;
const keptCharactersMax = 10 * 1024 * 1024;

/** `3000` and `localhost:3000/hooks` are enough. */
export function targetOf(text: string, allowHttp = false): string {
  const full = /^\d{1,5}$/.test(text) ? `http://127.0.0.1:${text}` : text;
  const target = /^https?:\/\//.test(full) ? full : `http://${full}`;
  if (!URL.canParse(target))
    throw usage(`"${text}" is no URL.`, 'Like 3000, or http://localhost:3000/hooks.');
  if (isInTheClear(target) && !allowHttp) {
    throw usage(
      `${target} is not encrypted, and webhooks show data.`,
      'Use https, or say --allow-http.',
    );
  }
  return target;
}

/** Posts copies to one address, says how each ended, and keeps the last ones. */
export class Forwarding {
  #sent: Sent[] = [];
  #count = 0;

  constructor(
    private readonly context: Context,
    private readonly target: string,
    /** Undefined: signatures are not verified. */
    private readonly secretNow: (() => Promise<string>) | undefined,
    private secret: string | undefined,
  ) {}

  /** Some at the same time, begun in their order. */
  async all(copies: readonly Copy[]): Promise<void> {
    const left = copies.values();
    const work = async (): Promise<void> => {
      for (const copy of left) await this.#first(copy);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  /** The last one, or that of the number. */
  async again(line: string): Promise<void> {
    const [, number] = /^\s*r?\s*(\d*)\s*$/.exec(line) ?? [];
    const sent = number ? this.#sent.find(({ nth }) => nth === Number(number)) : this.#sent.at(-1);
    if (sent) return this.#post(sent, true);
    this.context.terminal.say(
      'There is no such webhook any more. Type its number, or Enter for the last one.',
    );
  }

  async #first({ webhook_id, headers, body, withheld }: Copy): Promise<void> {
    const { terminal } = this.context;
    const nth = (this.#count += 1);
    if (headers === undefined || body === undefined) {
      const why = withheld === 'gone' ? 'its data is gone' : 'its data may not be opened now';
      return terminal.result(
        { nth, webhook_id, withheld },
        `#${nth} ${webhook_id} not shown: ${why}`,
      );
    }
    if (!(await this.#isGenuine(headers, body))) {
      const words = `${terminal.paint('red', '✗')} #${nth} ${webhook_id} its signature is wrong: not forwarded`;
      return terminal.result({ nth, webhook_id, verified: false }, words);
    }
    const sent = { nth, webhook_id, headers, body };
    this.#keep(sent);
    await this.#post(sent, false);
  }

  /** A secret that was rotated meanwhile is asked for once. */
  async #isGenuine(headers: Sent['headers'], body: string): Promise<boolean> {
    if (this.secret === undefined || !this.secretNow) return true;
    if (isSigned(headers, body, this.secret)) return true;
    this.secret = await this.secretNow();
    return isSigned(headers, body, this.secret);
  }

  async #post({ nth, webhook_id, headers, body }: Sent, isAgain: boolean): Promise<void> {
    const { terminal, signal } = this.context;
    const begun = performance.now();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    const init = { method: 'POST', headers, body, signal: limit, redirect: 'manual' } as const;
    const answer = await fetch(this.target, init).catch((error: Error) => whyNot(error));
    const ms = Math.round(performance.now() - begun);
    const outcome = typeof answer === 'string' ? { error: answer } : { status: answer.status };
    if (typeof answer !== 'string') await answer.body?.cancel().catch(() => undefined);
    const isTaken = typeof answer !== 'string' && answer.ok;
    const mark = isTaken ? terminal.paint('green', '✓') : terminal.paint('red', '✗');
    const words = [
      `#${nth}`,
      webhook_id,
      outcome.status ?? plain(String(outcome.error)),
      `${ms} ms`,
    ];
    const value = {
      ...{ nth, webhook_id, verified: this.secretNow !== undefined, again: isAgain, ms },
      ...outcome,
    };
    terminal.result(value, `${mark} ${words.join(' ')}${isAgain ? ' again' : ''}`);
  }

  #keep(sent: Sent): void {
    this.#sent.push(sent);
    const characters = (): number => this.#sent.reduce((sum, { body }) => sum + body.length, 0);
    while (
      this.#sent.length > keptMax ||
      (this.#sent.length > 1 && characters() > keptCharactersMax)
    ) {
      this.#sent.shift();
    }
  }
}

function isSigned(headers: Sent['headers'], body: string, secret: string): boolean {
  try {
    verifyWebhook(body, headers, secret);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
