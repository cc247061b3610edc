/** A refusal: what a client reads, and what `docs/reference/errors.md` says to operators. */
export interface CatalogueEntry {
  readonly status: number;
  /** For the client: what went wrong and what to do. */
  readonly message: string;
  /** For operators, in Markdown: when it occurs, and what to do. */
  readonly meaning: string;
  readonly remedy: string;
  /** The setting that would change the outcome, for `petgate why`; null if none would. */
  readonly setting: string | null;
  /** Minimum number of seconds to wait. */
  readonly retryAfterS?: number;
  /** The connection cannot be read any further and ends after the response. */
  readonly closes?: true;
}

/** All refusals. To update contract and errors.md: build, then run `node dist/src/gateway/contract/write.js`. */
export const CATALOGUE = {
  malformed_request: {
    status: 400,
    setting: null,
    message:
      'The request is not valid HTTP. Check the target (no control characters, escaped or not), Host, ' +
      'Content-Length and Transfer-Encoding, then send it again.',
    meaning:
      'not valid HTTP, framed so that two readers could differ, or with a control character (`%00` to `%1F`, ' +
      '`%7F`) in its target',
    remedy: 'fix the client or proxy in front',
    closes: true,
  },
  malformed_handshake: {
    status: 400,
    setting: null,
    message:
      'The WebSocket handshake is not valid. Send one Sec-WebSocket-Key and Sec-WebSocket-Version: 13, and ' +
      'nothing more before the response (RFC 6455).',
    meaning:
      'a WebSocket handshake without one valid `Sec-WebSocket-Key`, with a version other than 13, or with bytes ' +
      'before the response',
    remedy: 'fix the client (RFC 6455 §4.1)',
    closes: true,
  },
  unexpected_body: {
    status: 400,
    setting: 'requestBody of the operation in the contract',
    message: 'This operation takes no body. Send the request without Content-Length and Transfer-Encoding.',
    meaning: 'a body where the operation takes none',
    remedy: 'leave out the body',
    closes: true,
  },
  missing_api_key: {
    status: 401,
    setting: 'credentials; security of the operation in the contract',
    message: 'No API key was sent. Send it as "Authorization: Bearer <API_KEY>".',
    meaning: 'no `Authorization`',
    remedy: 'send `Authorization: Bearer <API_KEY>`',
  },
  invalid_api_key: {
    status: 401,
    setting: 'credentials, keys.accept_imported, environment; the key itself (petgate keys show)',
    message:
      'The API key is not valid: it is malformed, unknown, disabled, expired, revoked or of another environment. ' +
      'Send it as "Authorization: Bearer <API_KEY>", or ask for a new one.',
    meaning:
      'malformed, unknown, disabled, expired or revoked key, or one of another environment, or of a disabled or ' +
      'closed customer; the log says which',
    remedy: 'check `Authorization: Bearer <API_KEY>`, ask for a new one',
  },
  balance_exhausted: {
    status: 402,
    setting: 'credits of the key or its customer (petgate credits add)',
    message: 'The prepaid balance has too few units left for this request. Buy more; waiting does not help.',
    meaning: 'on a prepaid plan, fewer units are left than the request costs; no strike, nothing charged',
    remedy: 'buy more; operators: `petgate credits add`',
  },
  insufficient_scope: {
    status: 403,
    setting: 'scopes of the key; x-petgate: { scope } of the operation',
    message: 'The API key lacks the scope this operation needs. Use another key, or ask for the scope to be added.',
    meaning: 'the key may not do this',
    remedy: 'use another key, or add the scope',
  },
  cost_exceeds_limit: {
    status: 403,
    setting: "limits of the key's plan; x-petgate: { cost } of the operation",
    message:
      'One request of this operation costs more than a limit of this API key, so no retry can succeed. Ask for a ' +
      'higher limit.',
    meaning: 'one request costs more than a limit of the key; no strike, nothing charged',
    remedy: 'ask for a higher limit',
  },
  insecure_connection: {
    status: 403,
    setting: 'tls, trusted_proxies',
    message:
      'Send an API key to this page over HTTPS only, or from the machine that the gateway runs on. Open it with https.',
    meaning: 'the account page over plain HTTP, from another machine',
    remedy: 'open it with https; operators: set `tls`, or list the proxy that does HTTPS in `trusted_proxies`',
  },
  invalid_form: {
    status: 403,
    setting: null,
    message:
      'This form was not sent from a page of this site in your session, so nothing was done. Open the page again, ' +
      'and send the form from there.',
    meaning: 'a form of the account page that another site or another session sent, or that was sent before',
    remedy: 'open the page again, and send the form from there; a proxy in front must pass on `Host`',
  },
  not_found: {
    status: 404,
    setting: 'contract, overlays, base_path',
    message: 'There is no such path, or a parameter in it is not valid. See the API reference.',
    meaning: 'no such path in the contract, or a parameter that its schema does not allow',
    remedy: 'see the API reference',
  },
  method_not_allowed: {
    status: 405,
    setting: 'contract, overlays',
    message: 'This path does not support this method. The Allow header lists those it supports.',
    meaning: 'the path has no such method',
    remedy: 'see `Allow`',
  },
  request_timeout: {
    status: 408,
    setting: 'limits.headers_time, limits.request_time; lifetime of the upstream for a long body',
    message: 'The request did not arrive in time. Send it again, faster.',
    meaning: 'header or body came too slowly',
    remedy: 'send faster; raise `limits.headers_time`, `limits.request_time`',
    closes: true,
  },
  operation_removed: {
    status: 410,
    setting: 'x-sunset of the operation',
    message: 'This operation was removed. The Link header names its successor.',
    meaning: 'past its sunset date',
    remedy: 'use the successor in `Link`',
  },
  body_too_large: {
    status: 413,
    setting: 'limits.body_size; x-petgate: { body_size } of the operation',
    message: 'The request body is larger than the 1MiB that this operation takes. Send less.',
    meaning: 'over `limits.body_size`, or the `body_size` of the operation',
    remedy: 'send less, or raise it',
    closes: true,
  },
  uri_too_long: {
    status: 414,
    setting: 'limits.url_size',
    message: 'The request target is too long. Shorten the path or the query.',
    meaning: 'over `limits.url_size`',
    remedy: 'shorten',
    closes: true,
  },
  grpc_not_supported: {
    status: 415,
    setting: null,
    message: 'This gateway does not forward gRPC. Call the service directly, or use gRPC-Web.',
    meaning: '`Content-Type: application/grpc`: gRPC needs HTTP/2 and trailers to the upstream',
    remedy: 'call the service directly, or use gRPC-Web',
  },
  expectation_failed: {
    status: 417,
    setting: null,
    message: 'Only "Expect: 100-continue" is supported. Send the request without Expect.',
    meaning: 'an `Expect` other than `100-continue`',
    remedy: 'leave it out',
    closes: true,
  },
  rate_limited: {
    status: 429,
    setting: "limits of the key's plan, or of the plan anonymous; x-petgate: { cost } of the operation",
    message: 'The rate limit "minute" is reached. Wait as long as Retry-After says, then back off exponentially.',
    meaning: 'a bucket is empty',
    remedy: 'wait `Retry-After`, then back off exponentially',
  },
  too_many_concurrent: {
    status: 429,
    setting: "concurrency of the key's plan",
    message:
      'This API key has as many requests in flight as its plan allows. Wait until one has ended, and send fewer at a ' +
      'time.',
    meaning: 'as many requests are in flight as the plan allows; no strike, nothing charged',
    remedy: 'wait until one has ended, send fewer at a time, or ask for a plan with more',
  },
  key_banned: {
    status: 429,
    setting: "ban of the key's plan",
    message:
      'This API key is banned for a while, because it continued after being refused. Wait as long as Retry-After says.',
    meaning: 'banned because it continued after 429s',
    remedy: 'wait `Retry-After`; an operator can `petgate bans lift`',
  },
  address_banned: {
    status: 429,
    setting: 'ban of the plan anonymous',
    message:
      'Requests without a valid API key are banned from this address for a while. Wait as long as Retry-After ' +
      'says, or use a valid key.',
    meaning: 'the same, for requests without a valid key',
    remedy: 'use a valid key',
  },
  headers_too_large: {
    status: 431,
    setting: 'limits.header_size, limits.header_fields',
    message: 'The request header is too large or has too many fields. Send fewer or shorter ones.',
    meaning: 'over `limits.header_size` or `limits.header_fields`',
    remedy: 'send fewer fields',
    closes: true,
  },
  internal_error: {
    status: 500,
    setting: null,
    message: 'The gateway failed on this request. Send it again later, and report the X-Request-Id if it persists.',
    meaning: 'a fault of the gateway',
    remedy: 'report the `X-Request-Id`; it is in the log',
  },
  upstream_error: {
    status: 500,
    setting: 'errors of the upstream',
    message:
      'The upstream responded with an error without details. The status says what is known; report the ' +
      'X-Request-Id if it persists.',
    meaning:
      "with `errors: replace`, an upstream's response of 400 or above whose body is not an Error; the status is " +
      "the upstream's",
    remedy: 'see the log for what it said, and fix the upstream',
  },
  not_implemented: {
    status: 501,
    setting: 'addresses of the upstream',
    message: 'This operation is announced but not available yet.',
    meaning: 'the operation has no upstream yet',
    remedy: 'wait; operators: set the upstream',
  },
  upstream_failed: {
    status: 502,
    setting: null,
    message:
      'The upstream gave no valid response. Send the request again later; check first whether a write took effect.',
    meaning: 'the upstream gave no valid response',
    remedy: 'look at its log; a write may have taken effect',
  },
  upstream_unavailable: {
    status: 503,
    setting: 'addresses, connect, breaker and health of the upstream',
    message:
      'The upstream cannot be reached, or does not respond. Wait as long as Retry-After says, then send the ' +
      'request again.',
    meaning: 'it cannot be reached, or too many requests got no response, so that none are sent for a moment',
    remedy: 'start it, check `PETS_URL`, look at its log',
    retryAfterS: 1,
  },
  overloaded: {
    status: 503,
    setting: 'limits.exchanges, limits.waiting, limits.bodies_size, limits.tunnels; connections of the upstream',
    message:
      'The gateway has more requests than it can serve. Wait as long as Retry-After says, then send the request again.',
    meaning:
      '`limits.exchanges`, `limits.tunnels`, `limits.waiting` or `limits.bodies_size` is reached, or the queue of ' +
      'the upstream or of the operation is full',
    remedy: 'add workers or gateways; find out what hangs',
    retryAfterS: 1,
  },
  store_unavailable: {
    status: 503,
    setting: 'store.on_failure, store.deadline',
    message: 'Admission cannot be decided right now. Wait as long as Retry-After says, then send the request again.',
    meaning: 'Redis (or the disk) does not respond, and the key is not known here',
    remedy: 'see the log and `/readyz`',
    retryAfterS: 1,
  },
  plan_unavailable: {
    status: 503,
    setting: 'plans',
    message:
      'The plan of this API key is not in force right now, and nothing was counted. Send the request again ' +
      'later, and report the X-Request-Id if it persists.',
    meaning: 'the plans file lacks the plan of the key, or gives it no limits; no strike, nothing charged',
    remedy: 'see the log and `/readyz`; `petgate plans list`',
    retryAfterS: 1,
  },
  upstream_timeout: {
    status: 504,
    setting: 'deadline, idle and lifetime of the upstream; x-petgate: { deadline } of the operation',
    message:
      'The upstream did not respond within 15s (deadline). Send the request again later; check first whether a ' +
      'write took effect.',
    meaning: 'the upstream did not begin its response, or was silent, for `deadline`',
    remedy: 'look at the upstream; raise the limit',
  },
  http_version_not_supported: {
    status: 505,
    setting: null,
    message: 'This HTTP version is not supported. Use HTTP/1.1.',
    meaning: 'an HTTP version other than 1.0 and 1.1 in the request line',
    remedy: 'use HTTP/1.1, or with TLS HTTP/2',
    closes: true,
  },
} as const satisfies Record<string, CatalogueEntry>;
