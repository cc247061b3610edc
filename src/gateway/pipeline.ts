import type { Admitted, Exchange, Identified, Routed, Stripped } from './exchange.js';
import { isRefusal, type Refusal } from './refusal.js';

/** Input and output of each step: a wrong order does not compile, and nothing can be forwarded unadmitted. */
export interface Steps {
  /** Takes the credential and drops header fields that must not be forwarded (`edge/strip.ts`). */
  readonly strip: (exchange: Exchange) => Stripped;
  /** Finds the operation and its requirements (`contract/route.ts`). */
  readonly route: (exchange: Stripped) => Routed;
  /** Identifies the caller (`accounts/identify.ts`). */
  readonly identify: (exchange: Routed) => Identified;
  /** Checks key, ban and limits, and counts in the ledger (`admission/admit.ts`). */
  readonly admit: (exchange: Identified) => Promise<Admitted | Refusal>;
  /** Sends the request to its upstream and the response to the client (`upstream/forward.ts`). */
  readonly forward: (exchange: Admitted) => Promise<Admitted | Refusal>;
}

export const STEPS = ['open', 'strip', 'route', 'identify', 'admit', 'forward', 'finish'] as const satisfies readonly (
  | 'open'
  | keyof Steps
  | 'finish'
)[];

/**
 * READ FIRST. The path of every request:
 *
 *     open → strip → route → identify → admit → forward → finish
 *
 * A refusal is a value: it goes straight to the only renderer (`answer.ts`). An exception is a bug or a
 * dead dependency. `open` creates the exchange and `finish` always ends it, once; the listener
 * (`edge/begin.ts`) calls both around these steps.
 * @returns the first refusal, to be rendered, or the exchange once it has its response
 */
export function pipeline(steps: Steps): (exchange: Exchange) => Promise<Admitted | Refusal> {
  return async (exchange) => {
    const stripped = steps.strip(exchange);
    const routed = steps.route(stripped);
    const identified = steps.identify(routed);
    const admitted = await steps.admit(identified);
    return isRefusal(admitted) ? admitted : await steps.forward(admitted);
  };
}
