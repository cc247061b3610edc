import { CATALOGUE, type CatalogueEntry } from './catalogue.js';

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
  /** Rate fields in place of the verdict's, flat: of a limit that is not the plan's. */
  readonly rates?: readonly string[];
  /** Seconds a client should wait at least; null when waiting does not help. */
  readonly retryAfterS: number | null;
  /** True when the connection cannot be read on and must end after the answer. */
  readonly closes: boolean;
}

function build(code: RefusalCode, status: number = CATALOGUE[code].status): Refusal {
  const { message, retryAfterS, closes }: CatalogueEntry = CATALOGUE[code];
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

/** The refusal in words that fit this occurrence. Render it at load time. */
export function withMessage(refusal: Refusal, message: string): Refusal {
  const { code, status } = refusal;
  return { ...refusal, body: JSON.stringify({ code, message, status }) };
}

const LIMIT_REACHED = new Map<string, Refusal>();

/** A 429 that names the window, as the RateLimit fields do. There are as many as plans have windows. */
export function limitReached(window: string): Refusal {
  let refusal = LIMIT_REACHED.get(window);
  if (refusal === undefined) {
    // The catalogue's example is of the minute.
    refusal = withMessage(
      REFUSALS.rate_limited,
      CATALOGUE.rate_limited.message.replace('"minute"', () => `"${window}"`),
    );
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
