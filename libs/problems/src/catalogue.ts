/** All errors that a caller can get: stable code, HTTP status, title. */
export const problemCatalogue = {
  validation_failed: { status: 400, title: 'One or more validation errors occurred.' },
  invalid_json: { status: 400, title: 'The body is not valid JSON.' },
  invalid_request: { status: 400, title: 'The request is malformed.' },
  loop_detected: { status: 400, title: 'The request has been through here before.' },
  proxy_key_missing: { status: 400, title: 'The proxy key is missing.' },
  invalid_expression: { status: 400, title: 'A detokenization expression is invalid.' },
  unknown_token: { status: 400, title: 'A token cannot be found.' },
  invalid_api_key: { status: 401, title: 'The API key is missing or not valid.' },
  session_ended: { status: 401, title: 'There is no session of the console, or it has ended.' },
  permission_denied: { status: 403, title: 'The API key does not permit this.' },
  forward_denied: { status: 403, title: 'No proxy handles requests to this host.' },
  destination_not_allowed: { status: 403, title: 'A token may not go there.' },
  not_found: { status: 404, title: 'Not found.' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here.' },
  proxy_authentication_required: {
    status: 407,
    title: 'The API key of the forward proxy is missing or not valid.',
  },
  conflict: { status: 409, title: 'The request conflicts with what is stored.' },
  deployment_conflict: {
    status: 409,
    title: 'Resources were changed since they were deployed.',
  },
  request_in_progress: {
    status: 409,
    title: 'A request with this idempotency key is under way.',
  },
  changed_meanwhile: {
    status: 409,
    title: 'A definition changed while the call was under way; it may be repeated.',
  },
  application_gone: {
    status: 409,
    title: 'The application of the proxy or reactor is gone.',
  },
  data_gone: { status: 410, title: 'Data that the answer shows is gone.' },
  precondition_failed: { status: 412, title: 'The resource has changed meanwhile.' },
  payload_too_large: { status: 413, title: 'The payload is too large.' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported.' },
  misdirected_request: { status: 421, title: 'This server does not answer under this name.' },
  invalid_code: { status: 422, title: 'The code cannot be used.' },
  idempotency_key_reused: {
    status: 422,
    title: 'The idempotency key was used with another body.',
  },
  rate_limited: { status: 429, title: 'Too many requests.' },
  share_exhausted: { status: 429, title: 'Too much of this tenant is under way.' },
  internal_error: { status: 500, title: 'Something went wrong on our side.' },
  reactor_error: { status: 500, title: 'The reactor reported an error.' },
  invalid_reactor_result: { status: 500, title: 'The reactor returned something unusable.' },
  reactor_crashed: { status: 500, title: 'The reactor stopped before it answered.' },
  run_interrupted: { status: 500, title: 'The run was interrupted after its code had started.' },
  destination_unreachable: { status: 502, title: 'The destination cannot be reached.' },
  destination_answer_invalid: {
    status: 502,
    title: 'The answer of the destination cannot be understood.',
  },
  destination_busy: {
    status: 503,
    title: 'Too many calls are waiting for this destination.',
  },
  no_capacity: { status: 503, title: 'No free capacity to run the code.' },
  newer_definition: {
    status: 503,
    title: 'A newer release wrote what this call needs.',
  },
  service_unavailable: { status: 503, title: 'The service is not available at the moment.' },
  reactor_timeout: { status: 504, title: 'The reactor did not answer in time.' },
  destination_timeout: { status: 504, title: 'The destination did not answer in time.' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemCatalogue;
