import type { Admitted, Asking, BodyRest } from '../exchange.js';
import { upstreamFailed, upstreamTimeout, type Refusal } from '../refusal.js';
import type { Address } from './addresses/address.js';
import type { Evidence } from './addresses/breaker.js';
import type { Attempt } from './attempt.js';
import { Deadline, headLimit } from './deadline.js';
import { failureOf, type End, type OnUpstreamFailure } from './addresses/failure.js';
import { noSlot, unavailable, type Upstream } from './pools.js';

/** Share of the deadline that an attempt must have had, so that its timeout counts against the address. */
const ENOUGH = 0.5;

/** Creates an attempt; after `start`, `onEnd` is called once. */
export type Carry = (address: Address, onEnd: (end: End) => void) => Attempt;

/** What to send to an upstream, and how. */
interface Delivery {
  readonly exchange: Admitted;
  readonly upstream: Upstream;
  readonly asking: Asking;
  /** The remainder of a long body, which is sent only once, as it arrives. */
  readonly rest: BodyRest | null;
  readonly carry: Carry;
}

/**
 * Tries once, and again if nothing was sent or the method only reads, while retries are left. Returns the refusal or
 * the exchange.
 * @param stillAllowed whether the key of a stream is still allowed
 */
export function deliver(
  { exchange, upstream, asking, asking: { caller }, rest, carry }: Delivery,
  onFailure: OnUpstreamFailure,
  stillAllowed: (exchange: Admitted) => Promise<boolean>,
): Promise<Admitted | Refusal> {
  if (exchange.client.gone) return Promise.resolve(exchange);
  return new Promise((resolve, reject) => {
    const { client, operation } = exchange;
    // Methods that only read (RFC 9110 §9.2.1): repeating them is harmless.
    const mayRepeat = (exchange.method === 'GET' || exchange.method === 'HEAD') && rest === null;
    const isTunnel = client.handshake !== undefined;
    let attempt: Attempt | null = null;
    let retried = false;
    const sentMs = performance.now();

    const { timeLimits } = upstream;
    const head = headLimit(timeLimits, operation);
    const deadline = new Deadline(timeLimits, head, {
      onOver: (limit) => {
        if (rest?.awaitsClient === true || attempt?.awaitsClient === true) deadline.moved();
        else attempt?.stop(upstreamTimeout(limit));
      },
      stillAllowed: () => stillAllowed(exchange),
      cut: (setting) => {
        exchange.logEntry.setting = setting;
        client.abort();
        attempt?.stop('answered');
      },
    });
    client.onGone(() => attempt?.stop('answered'));

    const settle = (refusal: Refusal | null, nowMs: number): void => {
      rest?.stop();
      deadline.clear();
      exchange.logEntry.upstreamMs = nowMs - sentMs;
      resolve(refusal ?? exchange);
    };
    const send = (after: Address | null, nowMs: number): void => {
      const address = upstream.pick(asking, after, isTunnel);
      if (address === null) {
        settle(noSlot(upstream, asking, onFailure), nowMs);
        return;
      }
      const { breaker, shares } = address;
      const isTrial = breaker.isOpenFor(caller);
      const sent = breaker.send(caller, nowMs);
      const begun = carry(address, (end) => {
        address.underWay.remove(slot);
        const endedMs = performance.now();
        const hadTime = after === null && begun.sentMs !== null && endedMs - begun.sentMs >= head.ms * ENOUGH;
        const evidence = evidenceOf(end, exchange, rest, hadTime);
        if (evidence !== null) address.reached = evidence !== 'unreachable' && evidence !== 'tls';
        breaker.ended(sent, evidence, caller, endedMs);
        // After the breaker: a waiting request must not be sent where it has just opened.
        shares.leave(begun);
        ended(address, end, endedMs);
      });
      begun.progress = deadline;
      // Not only at its end: a stream may last for hours.
      if (breaker.isOpen) begun.onHead = () => breaker.ended(sent, 'good', caller, performance.now());
      attempt = begun;
      const slot = address.underWay.add(begun);
      shares.enter(begun, asking, isTrial);
    };
    const ended = (address: Address, end: End, nowMs: number): void => {
      const failure = failureOf(end);
      if (failure !== null) onFailure(upstream.name, failure);
      if (typeof end === 'object' && 'fault' in end) {
        rest?.stop();
        deadline.clear();
        reject(end.fault);
      } else if (end === 'answered') settle(null, nowMs);
      else if (end === 'withdrawn') send(address, nowMs);
      else if (typeof end === 'object') settle(end, nowMs);
      else if (!retried && !client.gone && (end !== 'lost' || mayRepeat) && upstream.retries.take()) {
        retried = true;
        send(address, nowMs);
      } else settle(end === 'lost' ? lost(upstream) : unavailable(upstream, asking), nowMs);
    };
    upstream.retries.earn();
    send(null, sentMs);
    if (rest !== null) deadline.sends(rest, (refusal) => attempt?.stop(refusal));
  });
}

/**
 * What the end of an attempt shows about its address. Null if its client left or was slow, or if it had only part of
 * the deadline because it waited for a connection or was a second attempt.
 */
function evidenceOf(end: End, { client }: Admitted, rest: BodyRest | null, hadTime: boolean): Evidence {
  // Many servers close without a message if a body arrives too slowly.
  if (end === 'lost' && rest?.awaitsClient === true) return null;
  const isUpstreamError = typeof end === 'object' && 'code' in end && end.code === 'upstream_error';
  if (end === 'answered' || isUpstreamError) return client.gone ? null : 'good';
  const failure = failureOf(end);
  // It responds, even if not usefully. Otherwise one operation, or one client, could cut off others.
  if (failure === 'bad_answer') return 'good';
  return failure === 'timeout' && (client.started || !hadTime) ? null : failure;
}

function lost({ name }: Upstream): Refusal {
  return upstreamFailed('connection_closed', name);
}
