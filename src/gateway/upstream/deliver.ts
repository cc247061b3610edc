import type { Admitted } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { End } from './attempt.js';
import { failureOf } from './failure.js';
import type { UpstreamFailure } from './failure.js';
import { markDown } from './pools.js';
import type { Address, Upstream } from './pools.js';

/** Told of each attempt that failed, also when a second one then went well. */
export type OnUpstreamFailure = (upstream: string, kind: UpstreamFailure) => void;

/** One attempt at one address. */
export interface Try {
  start(): void;
  /** Ends it from outside: deadline or client gone. */
  stop(end: Refusal | 'answered'): void;
}

/** Makes an attempt; `onEnd` is called once, from `start` on. */
export type Carry = (address: Address, onEnd: (end: End) => void) => Try;

/** Tries once; and once more where nothing was sent, or where reading is all that was asked. Gives the refusal, if any. */
export function deliver(exchange: Admitted, upstream: Upstream, carry: Carry, onFailure: OnUpstreamFailure): Promise<Refusal | null> {
  return new Promise((resolve) => {
    const { client } = exchange;
    if (client.gone) {
      resolve(null);
      return;
    }
    const isTunnel = client.handshake !== undefined;
    let attempt: Try | null = null;
    let retried = false;
    const sentMs = performance.now();

    const deadline = setTimeout(() => attempt?.stop(REFUSALS.upstream_timeout), upstream.deadlineMs);
    client.onGone(() => attempt?.stop('answered'));

    const settle = (refusal: Refusal | null): void => {
      clearTimeout(deadline);
      exchange.story.upstreamMs = performance.now() - sentMs;
      resolve(refusal);
    };
    const send = (except: Address | null): void => {
      const address = upstream.pick(except, isTunnel);
      if (address === null) {
        onFailure(upstream.name, 'full');
        settle(REFUSALS.overloaded);
        return;
      }
      address.inFlight += 1;
      attempt = carry(address, (end) => {
        address.inFlight -= 1;
        ended(address, end);
      });
      attempt.start();
    };
    const ended = (address: Address, end: End): void => {
      const failure = failureOf(end);
      if (failure !== null) onFailure(upstream.name, failure);
      address.reached = failure !== 'unreachable';
      if (end === 'not_sent') markDown(address);
      if (end === 'answered') settle(null);
      else if (end !== 'not_sent' && end !== 'lost') settle(end);
      else if (!retried && !client.gone && (end === 'not_sent' || isSafe(exchange.method))) {
        retried = true;
        send(address);
      } else settle(end === 'not_sent' ? REFUSALS.upstream_unavailable : REFUSALS.upstream_failed);
    };
    send(null);
  });
}

/** Methods that only read (RFC 9110 §9.2.1): sending them again changes nothing. */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
