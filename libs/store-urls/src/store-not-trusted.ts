const issuerUnknown = 'its certificate is from an authority that sslrootcert does not name';

/** The faults of a certificate by code. The error beneath may hold names, so nothing of it is kept. */
const faults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not yet valid',
  CERT_REVOKED: 'its certificate is revoked',
  CERT_SIGNATURE_FAILURE: issuerUnknown,
  DEPTH_ZERO_SELF_SIGNED_CERT: issuerUnknown,
  SELF_SIGNED_CERT_IN_CHAIN: issuerUnknown,
  UNABLE_TO_GET_ISSUER_CERT: issuerUnknown,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: issuerUnknown,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: issuerUnknown,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name than the one in the address',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
};
/** Of Postgres. The driver has no code for it. */
const noTls = 'The server does not support SSL connections';

/** The store that answers is not the one of the configuration, or cannot prove to be. */
export class StoreNotTrusted extends Error {
  constructor(
    store: string,
    /** In our words, for the log. */
    readonly reason: string,
    readonly code: string,
  ) {
    super(`${store} is not trusted: ${reason}`);
    this.name = 'StoreNotTrusted';
  }
}

/** Undefined for every error that says nothing of trust. */
export function trustFault(store: string, error: unknown): StoreNotTrusted | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if (error instanceof StoreNotTrusted) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (message === noTls) return new StoreNotTrusted(store, 'it does not speak TLS', 'NO_TLS');
  if (typeof code !== 'string' || !Object.hasOwn(faults, code)) return undefined;
  return new StoreNotTrusted(store, faults[code] ?? '', code);
}
