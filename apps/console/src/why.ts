import type { Cause, Position } from './api-types';

export interface Explanation {
  /** In plain words, for somebody who has not read the reference. */
  why: string;
  todo: string;
}

const retry = 'Repeat it after the time in Retry-After.';

/** A line for each code of the catalogue (docs/reference/errors.md). */
export const codes: Readonly<Record<string, Explanation>> = {
  validation_failed: {
    why: 'A member of the body, a parameter or an argument is missing or wrong.',
    todo: 'Correct each member that is named.',
  },
  invalid_json: {
    why: 'The body is not JSON that can be read in one way.',
    todo: 'Send valid JSON.',
  },
  invalid_request: {
    why: 'The request is malformed: two servers could read it differently.',
    todo: 'Look at what your client, or a proxy before it, adds.',
  },
  loop_detected: {
    why: 'The request came through this installation before: its destination sends it back.',
    todo: 'Give the proxy another destination. A proxy cannot call this installation.',
  },
  proxy_key_missing: { why: 'The call names no proxy.', todo: 'Send the key of the proxy.' },
  invalid_expression: {
    why: 'An expression in the request is malformed, or does not fit what it stands for.',
    todo: 'Correct the expression at the position that the caller was told.',
  },
  unknown_token: {
    why: 'A token is unknown, deleted, expired, or belongs to somebody else.',
    todo: 'Look the tokens up under Tokens. Nothing was forwarded or run.',
  },
  invalid_api_key: {
    why: 'The key is missing, mistyped, revoked or expired, or its application was deleted.',
    todo: 'Look at the keys of the application, and send one that is valid.',
  },
  session_ended: {
    why: 'The session of the console has ended: it was signed out, or silent for too long.',
    todo: 'Sign in again.',
  },
  misdirected_request: {
    why: 'The console was asked under a name that is not its own.',
    todo: 'Open it under the address that the operator gave it.',
  },
  forward_denied: {
    why: 'No proxy of the tenant matches the request, or its address may not be reached.',
    todo: 'Give a proxy a `match` for the host, or change `forward_unmatched` of the tenant.',
  },
  proxy_authentication_required: {
    why: 'The client of forward mode sent no valid key in Proxy-Authorization.',
    todo: 'Put a key with token:use into the URL of its proxy.',
  },
  destination_not_allowed: {
    why: 'A token in the call may not go where the call sends it. Nothing of it was sent.',
    todo: 'Send it elsewhere, or change `destinations` of the token or of the rule.',
  },
  permission_denied: {
    why: 'The key may not do this, or a rule withholds the token.',
    todo: 'Ask under Applications what it may read. Add the permission, a rule or the origin.',
  },
  not_found: { why: 'The id, the proxy key or the path names nothing.', todo: 'Check id and key.' },
  method_not_allowed: {
    why: 'The path does not take this method.',
    todo: 'Use a method that the answer names.',
  },
  conflict: {
    why: 'It would contradict what is stored, or something still uses it.',
    todo: 'Delete what is not used, or choose another id.',
  },
  deployment_conflict: {
    why: 'Resources of the deployment were changed by hand since files put them in force. Nothing was written.',
    todo: 'Compare both versions, take over what should stay, then deploy again.',
  },
  precondition_failed: {
    why: 'Somebody else changed it after you had opened it. Nothing was overwritten.',
    todo: 'Compare both versions, then save again.',
  },
  request_in_progress: {
    why: 'A call with the same idempotency key is still under way.',
    todo: `${retry} It answers with the outcome of the first.`,
  },
  changed_meanwhile: {
    why: 'The proxy, the reactor or the application was changed during the call.',
    todo: 'Repeat the call.',
  },
  application_gone: {
    why: 'The application that the proxy or reactor acts as is gone.',
    todo: 'Give the proxy or reactor another application.',
  },
  data_gone: {
    why: 'A token that the answer shows was deleted or has expired.',
    todo: 'The data is not coming back. The run says how the work had ended.',
  },
  payload_too_large: {
    why: 'A body, or what its tokens hold, is above its limit.',
    todo: 'Send less.',
  },
  unsupported_media_type: {
    why: 'The content type is not one that the endpoint, a transform or a step takes.',
    todo: 'Set Content-Type to a type that it takes.',
  },
  invalid_code: {
    why: 'The code does not compile, exports no function, or requires a module that does not exist.',
    todo: 'Open the code at the line that is named.',
  },
  idempotency_key_reused: {
    why: 'The idempotency key was used with another body within 24 hours.',
    todo: 'Take a new key for a new call.',
  },
  rate_limited: {
    why: 'The key made more calls in a minute than the operator allows.',
    todo: retry,
  },
  share_exhausted: {
    why: 'Too much of this tenant is under way at once.',
    todo: `${retry} Do less at once.`,
  },
  reactor_error: {
    why: 'The code threw an error.',
    todo: 'Open the run: it marks the line and shows what the code wrote.',
  },
  invalid_reactor_result: {
    why: 'The code returned something that cannot be sent.',
    todo: 'Open the run, and return an object with raw, tokens, headers or body.',
  },
  reactor_crashed: {
    why: 'The process of the code ended before it answered, mostly for want of memory.',
    todo: 'Look at what the code keeps in memory. The next run has a new process.',
  },
  reactor_timeout: {
    why: 'The code ran longer than it may, and was ended.',
    todo: 'Make it faster, or run it with callback_url and a longer time.',
  },
  run_interrupted: {
    why: 'The process that carried the run out ended while the code may have been running.',
    todo: 'Find out what the code had done. Run it again only if that is safe.',
  },
  destination_unreachable: {
    why: 'There was no connection to the destination, or no answer that can be read.',
    todo: 'Check the URL of the destination. The operator has to allow private addresses.',
  },
  destination_answer_invalid: {
    why: 'The answer of the destination is not of a kind that the transform can change.',
    todo: 'The destination may have done its work: look there before you repeat it.',
  },
  destination_busy: {
    why: 'As many calls to this destination as are allowed are under way.',
    todo: `${retry} The destination is slow, or its callers are many.`,
  },
  destination_timeout: {
    why: 'The destination did not answer in time.',
    todo: 'Ask the destination: it may have done its work.',
  },
  no_capacity: { why: 'No sandbox was free, so the code has not run.', todo: retry },
  service_unavailable: {
    why: 'A part of Glovebox is away, so nothing was done.',
    todo: `${retry} The processes on the overview show which part.`,
  },
  newer_definition: {
    why: 'An upgrade is under way, and an older process got a call that needs the newer one.',
    todo: retry,
  },
  internal_error: {
    why: 'Something unforeseen happened in Glovebox.',
    todo: 'Give the operator the trace id.',
  },
};

/** Reasons of a cause that have advice of their own, by how they begin. */
const reasons: readonly [begins: RegExp, todo: string][] = [
  [/^the certificate is self-signed/, 'Name its authority in certificate_authority of the proxy.'],
  [/^the issuer of the certificate/, 'Name its authority in certificate_authority of the proxy.'],
  [/^the certificate has expired/, 'The destination has to renew its certificate.'],
  [/^the certificate is not yet valid/, 'Compare the clocks of this machine and the destination.'],
  [/^the certificate is for another name/, 'Use the name that the certificate is made for.'],
  [
    /^(a client certificate is wanted|the client certificate)/,
    'Set client_certificate of the proxy.',
  ],
  [/^the port does not speak TLS/, 'Check port and scheme: the destination answers without TLS.'],
  [/^the port speaks TLS/, 'Write https in the URL of the destination.'],
  [/^the name does not exist/, 'Correct the name in the URL of the destination.'],
  [/^(no name server|the name server)/, 'Ask the operator to look at the name server.'],
  [/^refused/, 'Nothing listens there: check host and port, and whether the destination runs.'],
  [/^there is no route/, 'Ask the operator whether this network may be reached from here.'],
  [/^no connection within/, 'A firewall may drop the connection: check host, port and rules.'],
  [/connections failed in a row/, 'The destination is down. Calls go through once it answers.'],
  [/^no answer within/, 'The destination is slow: raise timeout_ms of the proxy, or ask there.'],
  [/^(closed|reset) without an answer/, 'Look into the log of the destination at this time.'],
];

const phases: Readonly<Record<string, string>> = {
  lookup: 'before anything was sent',
  name: 'while the name was looked up',
  connect: 'while the connection was made',
  tls: 'in the TLS handshake',
  send: 'while the request was sent',
  first_byte: 'while the answer was awaited',
  body: 'while the answer was read',
  transform: 'in a transform',
};

/** Says in plain words why a call failed and what to do. Unknown codes are told as they are. */
export function explain(code: string, cause?: Cause): Explanation {
  const known = codes[code] ?? { why: 'The call failed.', todo: 'Give the operator the trace id.' };
  if (cause === undefined) return known;
  const special = reasons.find(([begins]) => begins.test(cause.reason))?.[1];
  return { why: `${known.why} ${causeInWords(cause)}`, todo: special ?? known.todo };
}

const shortPhases: Readonly<Record<string, string>> = {
  lookup: 'Lookup',
  name: 'DNS',
  connect: 'Connect',
  tls: 'TLS',
  send: 'Request',
  first_byte: 'First byte',
  body: 'Answer',
  transform: 'Transform',
};

/** `TLS: the certificate is self-signed`, for a line of a list. */
export const causeInShort = ({ phase, reason }: Cause) =>
  `${shortPhases[phase] ?? phase}: ${reason}`;

/** `It failed in the TLS handshake with 203.0.113.9, port 443: the certificate is self-signed.` */
export function causeInWords({ phase, reason, address, port }: Cause): string {
  const where = phases[phase] ?? `in phase ${phase}`;
  const whom =
    address !== undefined ? ` with ${address}` : port === undefined ? '' : ' with the destination';
  const at = port === undefined ? '' : `, port ${port}`;
  return `It failed ${where}${whom}${at}: ${reason}.`;
}

export const positionInWords = ({ line, column }: Position) => `line ${line}, column ${column}`;
