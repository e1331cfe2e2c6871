/** Where a connection, or the one request over it, failed. */
export type UnreachablePhase = 'name' | 'connect' | 'tls' | 'first_byte';

const clientCertificateRefused = 'the client certificate is refused';
const issuerUnknown = 'the issuer of the certificate is unknown';
const noCommonVersion = 'there is no common version of TLS';
const noCommonCipher = 'there is no common cipher';
const noTls = 'the port does not speak TLS, the URL says https';
const notHttp = 'the answer is not HTTP/1.1';

/**
 * Reasons by code. Nothing of the error beneath goes into one: its text holds addresses, the names
 * in a certificate, or words of the destination.
 */
const reasons: Readonly<Record<UnreachablePhase, Readonly<Record<string, string>>>> = {
  name: {
    ENOTFOUND: 'the name does not exist',
    EAI_AGAIN: 'no name server answered',
    ETIMEOUT: 'no name server answered',
    ECONNREFUSED: 'no name server answered',
    ESERVFAIL: 'the name server failed',
    EREFUSED: 'the name server refused to answer',
  },
  connect: {
    ECONNREFUSED: 'refused',
    ECONNRESET: 'reset',
    EHOSTUNREACH: 'there is no route to the host',
    ENETUNREACH: 'there is no route to the network',
  },
  tls: {
    ECONNRESET: 'the connection ended in the TLS handshake',
    EPIPE: 'the connection ended in the TLS handshake',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
    SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed, or its authority is',
    CERT_HAS_EXPIRED: 'the certificate has expired',
    CERT_NOT_YET_VALID: 'the certificate is not yet valid',
    CERT_REVOKED: 'the certificate is revoked',
    CERT_SIGNATURE_FAILURE: 'the signature of the certificate is wrong',
    INVALID_PURPOSE: 'the certificate is not for servers',
    INVALID_CA: 'the issuer of the certificate is no authority',
    PATH_LENGTH_EXCEEDED: 'the issuer of the certificate is no authority',
    UNABLE_TO_GET_ISSUER_CERT: issuerUnknown,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: issuerUnknown,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: issuerUnknown,
    CERT_UNTRUSTED: issuerUnknown,
    CERT_REJECTED: issuerUnknown,
    ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
    HOSTNAME_MISMATCH: 'the certificate is for another name',
    // Any server that answers without TLS: of HTTP, mail or SSH.
    ERR_SSL_WRONG_VERSION_NUMBER: noTls,
    ERR_SSL_HTTP_REQUEST: noTls,
    ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'a client certificate is wanted',
    ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: clientCertificateRefused,
    ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: clientCertificateRefused,
    ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: clientCertificateRefused,
    ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: clientCertificateRefused,
    ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: clientCertificateRefused,
    ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: clientCertificateRefused,
    ERR_SSL_TLSV1_ALERT_ACCESS_DENIED: clientCertificateRefused,
    // Up to TLS 1.2 servers send the same alert for both.
    ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
      'there is no common cipher, or a client certificate is wanted',
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: noCommonVersion,
    ERR_SSL_UNSUPPORTED_PROTOCOL: noCommonVersion,
    ERR_SSL_NO_PROTOCOLS_AVAILABLE: noCommonVersion,
    ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY: noCommonCipher,
    ERR_SSL_DH_KEY_TOO_SMALL: noCommonCipher,
    ERR_SSL_EE_KEY_TOO_SMALL: noCommonCipher,
    ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'the destination does not serve this name',
    ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'the destination does not offer HTTP/1.1',
  },
  first_byte: {
    ECONNRESET: 'closed without an answer',
    EPIPE: 'closed without an answer',
    EPROTO: notHttp,
    TLS_RECORD: 'the port speaks TLS, the URL says http',
    HPE_HEADER_OVERFLOW: 'the head of the answer is too large',
  },
};

const otherReasons: Readonly<Record<UnreachablePhase, string>> = {
  name: 'the name cannot be looked up',
  connect: 'no connection',
  tls: 'the TLS handshake failed',
  first_byte: 'no answer that can be read',
};

const lateReasons: Readonly<Record<UnreachablePhase, string>> = {
  name: 'the name was not looked up',
  connect: 'no connection',
  tls: 'no end of the TLS handshake',
  first_byte: 'no answer',
};

/** Says in words why a connection failed. `withinMs`: the time that was over. */
export function reasonOf(code: string, phase: UnreachablePhase, withinMs?: number): string {
  if (code === 'ETIMEDOUT') {
    const late = lateReasons[phase];
    return withinMs === undefined ? `${late} in time` : `${late} within ${withinMs / 1_000} s`;
  }
  const known = reasons[phase];
  if (Object.hasOwn(known, code)) return known[code] ?? otherReasons[phase];
  return phase === 'first_byte' && code.startsWith('HPE_') ? notHttp : otherReasons[phase];
}

/**
 * The reason for a code of TLS, or undefined for any other. With TLS 1.3 a handshake that failed at
 * the other end only shows when the first answer is read.
 */
export function tlsReasonOf({ code }: NodeJS.ErrnoException): string | undefined {
  if (code === undefined || code === 'ECONNRESET' || code === 'EPIPE') return undefined;
  return code.startsWith('ERR_SSL_') || Object.hasOwn(reasons.tls, code)
    ? reasonOf(code, 'tls')
    : undefined;
}
