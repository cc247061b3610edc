import { CATALOGUE, type CatalogueEntry } from './catalogue.js';
import { bytesText, durationText } from './config/schema/quantity.js';
import { REASON_SETTINGS, type UpstreamReason } from './reasons.js';
import { escapeHtml } from '../shared/escape-html.js';

/** Every refusal the gateway can give is one of the closed catalogue; `refuse` in `answer.ts` alone renders it. */
export type RefusalCode = keyof typeof CATALOGUE;

/** A "no": a code of the catalogue, with the headers that only this occurrence knows. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly status: number;
  /** Flat `[name, value, …]`. */
  readonly headers: readonly string[];
  /** Body, rendered once at load time. */
  readonly body: string;
  /** The same in the form of RFC 9457. */
  readonly problem: Problem;
  /** The same as the member `error`, in which many SDKs look for it. */
  readonly nested: string;
  /** The setting that would change it, where only this occurrence knows which. */
  readonly setting?: string;
  /** Of a 502: what was wrong with the upstream's response, for operators. */
  readonly reason?: UpstreamReason;
  /** Rate fields in place of the verdict's, flat: of a limit that is not the plan's. */
  readonly rates?: readonly string[];
  /** Seconds a client should wait at least; null when waiting does not help. */
  readonly retryAfterS: number | null;
  /** True when the connection cannot be read on and must end after the answer. */
  readonly closes: boolean;
}

/** All of a problem that is known at load time; `problemOf` puts it together. */
interface Problem {
  /** A registered type, or what follows the address of the page that explains our own: `#not_found`. */
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

/** The types that OpenAI, Anthropic and Stripe have in common, as far as they do. */
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
 * The refusal as `application/problem+json`.
 * @param docs where types of our own are explained
 * @param id of the request: nothing in it needs an escape
 */
export function problemOf({ problem: { type, members } }: Refusal, docs: string, id: string): string {
  return `{"type":"${type.startsWith('#') ? docs : ''}${type}",${members},"instance":"${id}"}`;
}

/** The refusal as clients of S3 read it. */
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

/** Every refusal of the catalogue, built once. */
export const REFUSALS = Object.fromEntries(
  Object.keys(CATALOGUE).map((code) => [code, build(code as RefusalCode)]),
) as Readonly<Record<RefusalCode, Refusal>>;

/** The refusal with headers of this occurrence added, flat. */
export function withHeaders(refusal: Refusal, ...headers: string[]): Refusal {
  return { ...refusal, headers: [...refusal.headers, ...headers] };
}

/** The refusal in words that fit this occurrence. Render it at load time. */
export function withMessage(refusal: Refusal, message: string): Refusal {
  return { ...refusal, ...wordsOf(refusal.code, refusal.status, message) };
}

/** A 413 that names the largest body there may be. */
export function bodyTooLarge(maxBytes: number): Refusal {
  const { message } = CATALOGUE.body_too_large;
  return withMessage(REFUSALS.body_too_large, message.replace('1MiB', bytesText(maxBytes)));
}

/** A time limit of an upstream, and the setting that says it. */
export interface TimeLimit {
  readonly ms: number;
  readonly name: 'deadline' | 'idle' | 'lifetime';
  /** `upstreams.default.deadline`, for operators. */
  readonly setting: string;
}

/** A 504 that names the time limit which was over. */
export function upstreamTimeout({ ms, name, setting }: TimeLimit): Refusal {
  const message = CATALOGUE.upstream_timeout.message.replace('15s (deadline)', `${durationText(ms)} (${name})`);
  return { ...withMessage(REFUSALS.upstream_timeout, message), setting };
}

/** A 502 with its reason, which operators see and clients don't. */
export function upstreamFailed(reason: UpstreamReason, upstream: string): Refusal {
  const setting = REASON_SETTINGS[reason];
  const named = setting === undefined ? {} : { setting: `upstreams.${upstream}.${setting}` };
  return { ...REFUSALS.upstream_failed, ...named, reason };
}

const LIMIT_REACHED = new Map<string, Refusal>();

/**
 * A 429 that names the window, as the RateLimit fields do; as a problem it is of the type that their draft defines.
 * There are as many as plans have windows.
 */
export function limitReached(window: string): Refusal {
  let refusal = LIMIT_REACHED.get(window);
  if (refusal === undefined) {
    // The catalogue's example is of the minute.
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

/** `upstream_error` with the status that the upstream gave, and what else it said, flat. */
export function upstreamError(status: number, headers: readonly string[]): Refusal {
  return { ...build('upstream_error', status), headers };
}

export function isRefusal(result: object): result is Refusal {
  return 'closes' in result && 'code' in result;
}
