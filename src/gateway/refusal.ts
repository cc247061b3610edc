import { CONCURRENCY } from './admission/leases.js';
import { CATALOGUE, type CatalogueEntry } from './refusals/catalogue.js';
import { bytesText, durationText } from './config/schema/quantity.js';
import { REASON_SETTINGS, type UpstreamReason } from './refusals/reasons.js';
import { escapeHtml } from '../shared/text/escape-html.js';

/** Every refusal is an entry of the closed catalogue; only `refuse` in `answer.ts` renders it. */
export type RefusalCode = keyof typeof CATALOGUE;

/** An occurrence of a catalogue entry. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly status: number;
  /** Flat `[name, value, …]`. */
  readonly headers: readonly string[];
  /** The body, rendered once at load time. */
  readonly body: string;
  /** The same content as an RFC 9457 problem. */
  readonly problem: Problem;
  /** The same content in the member `error`, where many SDKs look for it. */
  readonly nested: string;
  /** The setting that would change the outcome, if it depends on this occurrence. */
  readonly setting?: string;
  /** For a 502: what was wrong with the upstream's response, for operators. */
  readonly reason?: UpstreamReason;
  /** Rate fields, flat, that replace the verdict's: for a limit outside the plan. */
  readonly rates?: readonly string[];
  /** Minimum number of seconds to wait; null if waiting does not help. */
  readonly retryAfterS: number | null;
  /** True if the connection cannot be read any further and must end after the response. */
  readonly closes: boolean;
}

/** The parts of a problem that are known at load time; `problemOf` assembles it. */
interface Problem {
  /** A registered type, or a fragment such as `#not_found` on the page that explains it. */
  readonly type: string;
  /** The members between `type` and `instance`. */
  readonly members: string;
}

const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

type Words = Pick<Refusal, 'body' | 'problem' | 'nested'>;

function wordsOf(code: RefusalCode, status: number, message: string): Words {
  const title = code.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
  return {
    body: JSON.stringify({ code, message, status }),
    problem: { type: `#${code}`, members: membersOf({ title, status, detail: message, code }) },
    nested: JSON.stringify({ error: { code, message, type: nestedType(status), param: null } }),
  };
}

/** The types that OpenAI, Anthropic and Stripe share. */
const NESTED_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

function nestedType(status: number): string {
  return NESTED_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

function membersOf(members: object): string {
  return JSON.stringify(members).slice(1, -1);
}

/**
 * Renders the refusal as `application/problem+json`.
 * @param docs the page that explains the gateway's own types
 * @param id request ID; nothing in it needs escaping
 */
export function problemOf({ problem: { type, members } }: Refusal, docs: string, id: string): string {
  return `{"type":"${type.startsWith('#') ? docs : ''}${type}",${members},"instance":"${id}"}`;
}

/** Renders the refusal for S3 clients. */
export function xmlOf({ code, body }: Refusal, id: string): string {
  const message = escapeHtml((JSON.parse(body) as { readonly message: string }).message);
  const members = `<Code>${code}</Code><Message>${message}</Message><RequestId>${id}</RequestId>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${members}</Error>`;
}

function build(code: RefusalCode, status: number = CATALOGUE[code].status): Refusal {
  const { message, retryAfterS, closes }: CatalogueEntry = CATALOGUE[code];
  return {
    code,
    status,
    headers: [],
    ...wordsOf(code, status, message),
    retryAfterS: retryAfterS ?? null,
    closes: closes ?? false,
  };
}

/** All refusals of the catalogue, built once. */
export const REFUSALS = Object.fromEntries(
  Object.keys(CATALOGUE).map((code) => [code, build(code as RefusalCode)]),
) as Readonly<Record<RefusalCode, Refusal>>;

/** Adds headers of this occurrence, flat. */
export function withHeaders(refusal: Refusal, ...headers: string[]): Refusal {
  return { ...refusal, headers: [...refusal.headers, ...headers] };
}

/** Replaces the message for this occurrence, and renders the bodies again. */
export function withMessage(refusal: Refusal, message: string): Refusal {
  return { ...refusal, ...wordsOf(refusal.code, refusal.status, message) };
}

/** Returns a 413 that names the largest allowed body. */
export function bodyTooLarge(maxBytes: number): Refusal {
  const { message } = CATALOGUE.body_too_large;
  return withMessage(REFUSALS.body_too_large, message.replace('1MiB', bytesText(maxBytes)));
}

/** A time limit of an upstream, with its setting. */
export interface TimeLimit {
  readonly ms: number;
  readonly name: 'deadline' | 'idle' | 'lifetime';
  /** `upstreams.default.deadline`, for operators. */
  readonly setting: string;
}

/** Returns a 504 that names the exceeded time limit. */
export function upstreamTimeout({ ms, name, setting }: TimeLimit): Refusal {
  const message = CATALOGUE.upstream_timeout.message.replace('15s (deadline)', `${durationText(ms)} (${name})`);
  return { ...withMessage(REFUSALS.upstream_timeout, message), setting };
}

/** Returns a 502 with a reason that only operators see. */
export function upstreamFailed(reason: UpstreamReason, upstream: string): Refusal {
  const setting = REASON_SETTINGS[reason];
  const named = setting === undefined ? {} : { setting: `upstreams.${upstream}.${setting}` };
  return { ...REFUSALS.upstream_failed, ...named, reason };
}

const LIMIT_REACHED = new Map<string, Refusal>();

/**
 * Returns a 429 that names the window, as the RateLimit fields do, with the problem type from their draft; a 402 for a
 * balance. Built once per window.
 */
export function limitReached(window: string): Refusal {
  if (window === CONCURRENCY) return REFUSALS.too_many_concurrent;
  if (window === 'balance') return REFUSALS.balance_exhausted;
  let refusal = LIMIT_REACHED.get(window);
  if (refusal === undefined) {
    // The catalogue's example is for the minute.
    const { status, message } = CATALOGUE.rate_limited;
    const detail = message.replace('"minute"', () => `"${window}"`);
    const title = 'Request cannot be satisfied as assigned quota has been exceeded';
    const members = { title, status, detail, code: 'rate_limited', 'violated-policies': [window] };
    const problem = { type: QUOTA_EXCEEDED, members: membersOf(members) };
    refusal = { ...withMessage(REFUSALS.rate_limited, detail), problem };
    LIMIT_REACHED.set(window, refusal);
  }
  return refusal;
}

/** Returns `upstream_error` with the upstream's status and further headers, flat. */
export function upstreamError(status: number, headers: readonly string[]): Refusal {
  return { ...build('upstream_error', status), headers };
}

export function isRefusal(result: object): result is Refusal {
  return 'closes' in result && 'code' in result;
}
