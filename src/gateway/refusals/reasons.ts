/** Why an upstream's response could not be read, in words for operators. */
const UNREADABLE = {
  not_http: 'no HTTP/1.x response',
  protocol_switched: 'a switch of protocols that was not requested',
  too_many_interim: 'more than 32 interim responses',
  head_too_large: 'response head above the setting response_head',
  too_many_fields: 'more fields than the setting response_fields',
  line_end_invalid: 'a line that is folded or does not end in CRLF',
  field_invalid: 'an invalid field',
  content_length_twice: 'Content-Length twice',
  content_length_invalid: 'an invalid Content-Length',
  transfer_encoding_invalid: 'a Transfer-Encoding other than chunked',
  length_and_encoding: 'Content-Length and Transfer-Encoding together',
  chunk_invalid: 'an invalid chunk',
  other_request: 'the X-Request-Id of an earlier request on its connection',
} as const;
export type Unreadable = keyof typeof UNREADABLE;

/** Why a client got a 502 in place of its upstream's response. */
export const REASONS = {
  ...UNREADABLE,
  connection_closed: 'the connection closed before a response',
  response_cut: 'the connection closed in the middle of the response',
  handshake_refused: 'a 101 that does not accept this WebSocket handshake',
  status_refused: 'a status about the gateway (401, 403, 407, 429), or above 599',
} as const;
export type UpstreamReason = keyof typeof REASONS;

/** Settings of the upstream that would change the outcome. */
export const REASON_SETTINGS: Partial<Record<UpstreamReason, string>> = {
  head_too_large: 'response_head',
  too_many_fields: 'response_fields',
  status_refused: 'errors',
};
