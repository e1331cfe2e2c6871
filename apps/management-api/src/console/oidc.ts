import type { Request } from 'express';
import type { Configuration } from 'openid-client';
import { createEgress, egressPolicyOf } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import { describeError, type Secret } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import type { ManagementContext } from '../context';
import { ofNoTenant } from '../database/in-tenant';
import type { ApiRequest } from '../http/request';
import { fetchThrough } from './issuer-fetch';
import { claimIn, roleOf } from './oidc-roles';
import { endPeople, makeCode } from './sessions';

const signInMinutes = 10;
const signInsMax = 10_000;
const timeoutSeconds = 10;
const nameMax = 200;
const bindingPattern = /^[\w-]{43,128}$/;

interface Started {
  readonly nonce: string;
  readonly verifier: string;
  readonly bindingHash: string;
}

/** Why nobody was signed in, for the page. */
type Refusal = 'expired' | 'denied' | 'no_role' | 'issuer';

/** Lets people sign in at the issuer of the operator. */
export class Oidc {
  #discovered: Promise<Configuration> | undefined;

  constructor(
    private readonly ctx: ManagementContext,
    private readonly client: {
      readonly issuer: string;
      readonly id: string;
      readonly secret: Secret;
    },
  ) {}

  /**
   * Returns the URL of the issuer. The binding is a secret of the page that asks: with the code of
   * another browser it signs nobody in.
   */
  async start(request: Request): Promise<string> {
    const { binding } = request.query;
    if (typeof binding !== 'string' || !bindingPattern.test(binding)) {
      throw new Problem('invalid_request', {
        detail: '`binding` must be 43 to 128 random characters of base64url.',
      });
    }
    const { oidc, issuer } = await this.#issuer();
    const [state, nonce, verifier] = [
      oidc.randomState(),
      oidc.randomNonce(),
      oidc.randomPKCECodeVerifier(),
    ];
    await this.#remember(state, { nonce, verifier, bindingHash: this.ctx.keyHash(binding) });
    const url = oidc.buildAuthorizationUrl(issuer, {
      redirect_uri: this.#callbackUrl(request).href,
      scope: this.ctx.config.OIDC_SCOPE,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /** Returns where the browser goes from the callback: to the page, with a code or a reason. */
  async finish(request: ApiRequest): Promise<string> {
    const answer = await this.#codeOf(request).catch((error: unknown): Refusal => {
      this.ctx.logger.warn({ error: describeError(error) }, 'a sign-in at the issuer failed');
      return 'issuer';
    });
    return typeof answer === 'string' ? `/#refused=${answer}` : `/#code=${answer.code}`;
  }

  async #codeOf(request: ApiRequest): Promise<Refusal | { readonly code: string }> {
    const { state, error } = request.query;
    const started = typeof state === 'string' ? await this.#recall(state) : undefined;
    if (!started || typeof state !== 'string') return 'expired';
    if (error !== undefined) return 'denied';
    const { oidc, issuer } = await this.#issuer();
    const url = this.#callbackUrl(request);
    url.search = new URL(request.originalUrl, url).search;
    const tokens = await oidc.authorizationCodeGrant(issuer, url, {
      expectedState: state,
      expectedNonce: started.nonce,
      pkceCodeVerifier: started.verifier,
      idTokenExpected: true,
    });
    const signed = tokens.claims();
    if (!signed) return 'issuer';
    // Many issuers put no more than the subject into the token.
    const told = issuer.serverMetadata().userinfo_endpoint
      ? await oidc.fetchUserInfo(issuer, tokens.access_token, signed.sub)
      : {};
    const claims: Readonly<Record<string, unknown>> = { ...told, ...signed };
    const { OIDC_CLAIM, OIDC_ROLES } = this.ctx.config;
    const found = roleOf(OIDC_ROLES, claimIn(claims, OIDC_CLAIM));
    const { sub: subject, iss: issuedBy } = signed;
    const { traceId } = request;
    await endPeople(this.ctx, { issuer: issuedBy, subject, butIn: found?.tenantId, traceId });
    if (!found) return 'no_role';
    const person = { ...found, issuer: issuedBy, subject, name: nameIn(claims) };
    return { code: await makeCode(this.ctx, person, { bindingHash: started.bindingHash }) };
  }

  async #remember(state: string, { nonce, verifier, bindingHash }: Started): Promise<void> {
    const sql = ofNoTenant(this.ctx.dataSource);
    await sql.query(
      `DELETE FROM console_sign_ins WHERE state_hash IN (
         SELECT state_hash FROM console_sign_ins ORDER BY expires_at DESC OFFSET $1)`,
      [signInsMax - 1],
    );
    await sql.query(
      `INSERT INTO console_sign_ins (state_hash, nonce, verifier, binding_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + make_interval(mins => $5))`,
      [this.ctx.keyHash(state), nonce, verifier, bindingHash, signInMinutes],
    );
  }

  async #recall(state: string): Promise<Started | undefined> {
    const [started] = await ofNoTenant(this.ctx.dataSource).query<Started>(
      `DELETE FROM console_sign_ins WHERE state_hash = $1 AND expires_at > now()
       RETURNING nonce, verifier, binding_hash AS "bindingHash"`,
      [this.ctx.keyHash(state)],
    );
    return started;
  }

  /** Without CONSOLE_URL the console answers under local names alone. */
  #callbackUrl(request: Request): URL {
    const origin = this.ctx.config.CONSOLE_URL ?? `http://${request.headers.host}`;
    return new URL('/api/console/oidc/callback', origin);
  }

  /** The package has no form for require(). An issuer that was away is asked anew. */
  async #issuer() {
    const oidc = await import('openid-client');
    const { config } = this.ctx;
    const { issuer, id, secret } = this.client;
    const url = new URL(issuer);
    const policy = egressPolicyOf(
      { ...config, EGRESS_ALLOW: [...config.EGRESS_ALLOW, ...config.OIDC_ALLOW] },
      [],
    );
    this.#discovered ??= oidc
      .discovery(url, id, undefined, oidc.ClientSecretPost(secret.reveal()), {
        timeout: timeoutSeconds,
        [oidc.customFetch]: fetchThrough(
          createEgress(policy, { lookups: new Shares({ places: 8 }) }),
        ),
        // The egress rules decide on plain http.
        execute: url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
      })
      .catch((error: unknown) => {
        this.#discovered = undefined;
        throw new Problem('service_unavailable', { retryAfterSeconds: 5, cause: error });
      });
    return { oidc, issuer: await this.#discovered };
  }
}

function nameIn(claims: Readonly<Record<string, unknown>>): string {
  const given = [claims.name, claims.preferred_username, claims.email, claims.sub];
  const name = given.find((each) => typeof each === 'string' && each.trim() !== '');
  return String(name).slice(0, nameMax);
}
