import type { Admitted, BodyRest } from '../exchange.js';
import { REFUSALS, upstreamTimeout, type Refusal } from '../refusal.js';
import type { Address } from './addresses/address.js';
import type { Evidence } from './addresses/breaker.js';
import type { Attempt, End } from './attempt.js';
import { Deadline, headLimit } from './deadline.js';
import { failureOf, type OnUpstreamFailure } from './failure.js';
import { noSlot, unavailable, type Upstream } from './pools.js';

/** Makes an attempt; `onEnd` is called once, from `start` on. */
export type Carry = (address: Address, onEnd: (end: End) => void) => Attempt;

/** What is brought to an upstream, and how. */
interface Delivery {
  readonly exchange: Admitted;
  readonly upstream: Upstream;
  /** Of a long body, which is sent once, as it comes. */
  readonly rest: BodyRest | null;
  readonly carry: Carry;
}

/**
 * Tries once; and once more where nothing was sent, or only reading was asked, while there are retries left. Gives the
 * refusal, or else the exchange.
 * @param mayGoOn whether the key of a stream could open it now
 */
export function deliver(
  { exchange, upstream, rest, carry }: Delivery,
  onFailure: OnUpstreamFailure,
  mayGoOn: (exchange: Admitted) => Promise<boolean>,
): Promise<Admitted | Refusal> {
  return new Promise((resolve, reject) => {
    const { client, operation } = exchange;
    if (client.gone) {
      resolve(exchange);
      return;
    }
    const mayRepeat = isSafe(exchange.method) && rest === null;
    const isTunnel = client.handshake !== undefined;
    let attempt: Attempt | null = null;
    let retried = false;
    const sentMs = performance.now();

    const { timeLimits } = upstream;
    const deadline = new Deadline(timeLimits, headLimit(timeLimits, operation), {
      onOver: (limit) => {
        if (rest?.awaitsClient === true || attempt?.awaitsClient === true) deadline.moved();
        else attempt?.stop(upstreamTimeout(limit));
      },
      mayGoOn: () => mayGoOn(exchange),
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
      const address = upstream.pick(operation.id, after, isTunnel);
      if (address === null) {
        settle(noSlot(upstream, onFailure), nowMs);
        return;
      }
      const isTrial = address.breaker.isOpen;
      const sent = address.breaker.send(nowMs);
      const share = address.shareOf(operation.id);
      const begun = carry(address, (end) => {
        address.underWay.remove(slot);
        // Many servers close when a body comes too slowly for them, without a word.
        const isSlowClient = end === 'lost' && rest?.awaitsClient === true;
        const evidence = isSlowClient ? null : evidenceOf(end, exchange, after === null);
        if (evidence !== null) address.reached = evidence !== 'unreachable' && evidence !== 'tls';
        const endedMs = performance.now();
        address.breaker.ended(sent, evidence, endedMs);
        // After the breaker has heard of it: who waits is not sent where it just opened.
        share.leave(begun);
        ended(address, end, endedMs);
      });
      begun.progress = deadline;
      attempt = begun;
      const slot = address.underWay.add(begun);
      share.enter(begun, isTrial);
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
      } else settle(end === 'lost' ? REFUSALS.upstream_failed : unavailable(upstream), nowMs);
    };
    upstream.retries.earn();
    send(null, sentMs);
    if (rest !== null) deadline.sends(rest, (refusal) => attempt?.stop(refusal));
  });
}

/** Methods that only read (RFC 9110 §9.2.1): sending them again changes nothing. */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * What the end of an attempt says of its address. Null: its client left or was slow to take the answer, or it began
 * with only a part of the deadline.
 */
function evidenceOf(end: End, { client }: Admitted, hadWholeDeadline: boolean): Evidence {
  if (end === 'answered' || isUpstreamError(end)) return client.gone ? null : 'good';
  const failure = failureOf(end);
  // It answers, if nothing for a client. Else one operation, or a client asking for the impossible, could cut off
  // others.
  if (failure === 'bad_answer') return 'good';
  return failure === 'timeout' && (client.started || !hadWholeDeadline) ? null : failure;
}

function isUpstreamError(end: End): boolean {
  return typeof end === 'object' && 'code' in end && end.code === 'upstream_error';
}
