import { isRefusal } from './refusal.js';
import type { Refusal } from './refusal.js';

/**
 * READ FIRST. A request travels through an ordered list of steps:
 *
 *     open → strip → route → identify → admit → forward → finish
 *
 * Each step takes what the step before it gives (`exchange.ts`), so a wrong order does not compile,
 * and nothing unadmitted can be forwarded. A refusal is a value: it leaves sideways, at once, to the
 * one renderer. An exception is a bug or a dead dependency. `open` makes the exchange and `finish`
 * ends it, once, always; the listener (`edge/listener.ts`) calls both around the steps in between.
 */
export type Step<In, Out> = (exchange: In) => Out | Refusal | Promise<Out | Refusal>;

export interface Pipeline<In, Out> {
  /** The steps' names, in order. */
  readonly names: readonly string[];
  then<Next extends object>(name: string, step: Step<Out, Next>): Pipeline<In, Next>;
  /** Runs the steps up to the first refusal. */
  run(exchange: In): Promise<Out | Refusal>;
}

type AnyStep = Step<object, object>;

/** An empty pipeline; `then` adds the steps. */
export function pipeline<In extends object>(): Pipeline<In, In> {
  return build<In, In>([], []);
}

function build<In extends object, Out extends object>(names: readonly string[], steps: readonly AnyStep[]): Pipeline<In, Out> {
  return {
    names,
    then: <Next extends object>(name: string, step: Step<Out, Next>) => build<In, Next>([...names, name], [...steps, step as unknown as AnyStep]),
    run: async (exchange) => {
      let current: object = exchange;
      for (const step of steps) {
        const next = step(current);
        current = next instanceof Promise ? await next : next;
        if (isRefusal(current)) return current;
      }
      return current as Out;
    },
  };
}
