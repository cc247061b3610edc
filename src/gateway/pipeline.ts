import type { Admitted, Exchange, Identified, Routed, Stripped } from './exchange.js';
import { isRefusal, type Refusal } from './refusal.js';

/** What each step takes and gives: a wrong order does not compile, and nothing unadmitted can be forwarded. */
export interface Steps {
  /** Takes the credential, and drops the header fields that must not travel on (`edge/strip.ts`). */
  readonly strip: (exchange: Exchange) => Stripped;
  /** Finds the operation, and what it requires (`contract/route.ts`). */
  readonly route: (exchange: Stripped) => Routed;
  /** Reads who asks (`accounts/identify.ts`). */
  readonly identify: (exchange: Routed) => Identified;
  /** Decides: key, ban, limits and ledger (`admission/admit.ts`). */
  readonly admit: (exchange: Identified) => Promise<Admitted | Refusal>;
  /** Sends it to its upstream, and the answer to the client (`upstream/forward.ts`). */
  readonly forward: (exchange: Admitted) => Promise<Admitted | Refusal>;
}

export const STEPS = ['open', 'strip', 'route', 'identify', 'admit', 'forward', 'finish'] as const satisfies readonly (
  'open' | keyof Steps | 'finish'
)[];

/**
 * READ FIRST. The way of every request:
 *
 *     open → strip → route → identify → admit → forward → finish
 *
 * A refusal is a value: it leaves at once, to the one renderer (`answer.ts`). An exception is a bug or a
 * dead dependency. `open` makes the exchange and `finish` ends it, once, always; the listener
 * (`edge/begin.ts`) calls both around the steps in between.
 * @returns the first refusal, which is to be rendered, or the exchange whose client has its answer
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
