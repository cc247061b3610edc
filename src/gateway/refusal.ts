/**
 * The closed catalogue of "no". Every refusal the gateway can give is one of these, and `refuse` in
 * `answer.ts` is the one place that renders it. Codes stand in `config/openapi.yaml` too (a test compares).
 */
export type RefusalCode = keyof typeof CATALOGUE;

/** A "no": a code of the catalogue, with the headers that only this occurrence knows. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly status: number;
  /** Flat `[name, value, …]`. */
  readonly headers: readonly string[];
  /** Body, rendered once at load time. */
  readonly body: string;
  /** Rate fields in place of the verdict's, flat: of a limit that is not the plan's. */
  readonly rates?: readonly string[];
  /** Seconds a client should wait at least; null when waiting does not help. */
  readonly retryAfterS: number | null;
  /** True when the connection cannot be read on and must end after the answer. */
  readonly closes: boolean;
}

interface Entry {
  readonly status: number;
  readonly message: string;
  readonly retryAfterS?: number;
  readonly closes?: boolean;
}

const entry = (status: number, message: string, more: Omit<Entry, 'status' | 'message'> = {}): Entry => ({
  status,
  message,
  ...more,
});

const CATALOGUE = {
  malformed_request: entry(
    400,
    'The request is not valid HTTP. Check the target (no control characters, escaped or not), Host, Content-Length and Transfer-Encoding, then send it again.',
    { closes: true },
  ),
  malformed_handshake: entry(
    400,
    'The WebSocket handshake is not valid. Send one Sec-WebSocket-Key and Sec-WebSocket-Version: 13, and nothing more before the answer (RFC 6455).',
    { closes: true },
  ),
  unexpected_body: entry(
    400,
    'This method takes no body. Send the request without Content-Length and Transfer-Encoding.',
    { closes: true },
  ),
  missing_api_key: entry(401, 'No API key was sent. Send it as "Authorization: Bearer <API_KEY>".'),
  invalid_api_key: entry(
    401,
    'The API key is not valid: it is malformed, unknown, disabled, expired or revoked. Check it, or ask for a new one.',
  ),
  insufficient_scope: entry(
    403,
    'The API key lacks the scope this operation needs. Use another key, or ask for the scope to be added.',
  ),
  cost_exceeds_limit: entry(
    403,
    'One request of this operation costs more than a limit of this API key ever holds, so that no retry can succeed. Ask for a higher limit.',
  ),
  not_found: entry(404, 'There is no such path, or a parameter in it is not valid. The API reference is at /docs.'),
  method_not_allowed: entry(405, 'This path does not take this method. The Allow header names those it takes.'),
  request_timeout: entry(408, 'The request did not arrive in time. Send it again, faster.', { closes: true }),
  operation_removed: entry(410, 'This operation was removed. The Link header names its successor.'),
  body_too_large: entry(413, 'The request body is too large. Send at most 1 MiB.', { closes: true }),
  uri_too_long: entry(414, 'The request target is too long. Shorten the path or the query.', { closes: true }),
  expectation_failed: entry(417, 'Only "Expect: 100-continue" can be met. Send the request without another Expect.', {
    closes: true,
  }),
  rate_limited: entry(429, 'The rate limit is reached. Wait as long as Retry-After says, then back off exponentially.'),
  key_banned: entry(
    429,
    'This API key is banned for a while, because it went on after being refused. Wait as long as Retry-After says.',
  ),
  address_banned: entry(
    429,
    'Requests without a valid API key are banned from this address for a while. Wait as long as Retry-After says, or use a valid key.',
  ),
  headers_too_large: entry(431, 'The request header is too large or has too many fields. Send fewer or shorter ones.', {
    closes: true,
  }),
  internal_error: entry(
    500,
    'The gateway failed on this request. Send it again later, and report the X-Request-Id if it persists.',
  ),
  upstream_error: entry(
    500,
    'The upstream answered with an error that it did not explain. The status says what is known; report the X-Request-Id if it persists.',
  ),
  not_implemented: entry(501, 'This operation is announced but not available yet.'),
  upstream_failed: entry(
    502,
    'The upstream gave no valid answer. Send the request again later; check first whether a write took effect.',
  ),
  upstream_unavailable: entry(
    503,
    'The upstream cannot be reached, or gives no answers. Wait as long as Retry-After says, then send the request again.',
    { retryAfterS: 1 },
  ),
  overloaded: entry(
    503,
    'The gateway has more requests than it can serve. Wait as long as Retry-After says, then send the request again.',
    { retryAfterS: 1 },
  ),
  store_unavailable: entry(
    503,
    'Admission cannot be decided right now. Wait as long as Retry-After says, then send the request again.',
    { retryAfterS: 1 },
  ),
  plan_unavailable: entry(
    503,
    'The plan of this API key is not in force right now, and nothing was counted. Send the request again later, and report the X-Request-Id if it persists.',
    { retryAfterS: 1 },
  ),
  upstream_timeout: entry(
    504,
    'The upstream did not answer in time. Send the request again later; check first whether a write took effect.',
  ),
  http_version_not_supported: entry(505, 'This HTTP version is not supported. Use HTTP/1.1.', { closes: true }),
} as const satisfies Record<string, Entry>;

function build(code: RefusalCode, status: number = CATALOGUE[code].status): Refusal {
  const { message, retryAfterS, closes }: Entry = CATALOGUE[code];
  return {
    code,
    status,
    headers: [],
    body: JSON.stringify({ code, message, status }),
    retryAfterS: retryAfterS ?? null,
    closes: closes ?? false,
  };
}

/** Every refusal of the catalogue, built once. */
export const REFUSALS = Object.fromEntries(
  Object.keys(CATALOGUE).map((code) => [code, build(code as RefusalCode)]),
) as Readonly<Record<RefusalCode, Refusal>>;

/** The refusal with headers of this occurrence added, flat. */
export function withHeaders(refusal: Refusal, ...headers: string[]): Refusal {
  return { ...refusal, headers: [...refusal.headers, ...headers] };
}

/** `upstream_error` with the status that the upstream gave, and what else it said, flat. */
export function upstreamError(status: number, headers: readonly string[]): Refusal {
  return { ...build('upstream_error', status), headers };
}

/** Tells a refusal from whatever else a step may give. */
export function isRefusal(result: object): result is Refusal {
  return 'closes' in result && 'code' in result;
}
