import type { Admitted } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { Attempt } from './attempt.js';
import type { End } from './attempt.js';
import { failureOf } from './failure.js';
import type { UpstreamFailure } from './failure.js';
import { requestHeaders } from './headers.js';
import { markDown } from './pools.js';
import type { Address, Upstream, Upstreams } from './pools.js';

/** Writes the answer of an operation the gateway serves itself. */
export type OwnAnswer = (exchange: Admitted) => Refusal | undefined | Promise<Refusal | undefined>;

/** Told of each attempt that failed, also when a second one then went well. */
export type OnUpstreamFailure = (upstream: string, kind: UpstreamFailure) => void;

/**
 * Sixth step: takes an admitted exchange, and only such a one, to the service behind, or to the
 * gateway's own answer. Gives the exchange once its answer is written.
 */
export function createForward(
  upstreams: Upstreams,
  ownAnswers: ReadonlyMap<string, OwnAnswer>,
  internalToken: string,
  maxBodyBytes: number,
  onFailure: OnUpstreamFailure,
): (exchange: Admitted) => Promise<Admitted | Refusal> {
  return async (exchange) => {
    const { operation, client, story } = exchange;
    if (operation.upstream === 'gateway') return (await ownAnswers.get(operation.id)!(exchange)) ?? exchange;
    const upstream = upstreams.get(operation.upstream)!;
    story.upstream = upstream.name;
    let body: Buffer | null = null;
    if (exchange.hasBody) {
      if (exchange.contentLength !== null && exchange.contentLength > maxBodyBytes) return REFUSALS.body_too_large;
      const read = await client.readBody(maxBodyBytes);
      if (read === 'gone') return exchange;
      if (!Buffer.isBuffer(read)) return read;
      body = read;
    }
    return (await deliver(exchange, upstream, requestHeaders(exchange, internalToken), body, onFailure)) ?? exchange;
  };
}

/** Tries once; and once more where nothing was sent, or where reading is all that was asked. */
function deliver(exchange: Admitted, upstream: Upstream, headers: string[], body: Buffer | null, onFailure: OnUpstreamFailure): Promise<Refusal | null> {
  return new Promise((resolve) => {
    const { client } = exchange;
    if (client.gone) {
      resolve(null);
      return;
    }
    let attempt: Attempt | null = null;
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
      const address = upstream.pick(except);
      if (address === null) {
        onFailure(upstream.name, 'full');
        settle(REFUSALS.overloaded);
        return;
      }
      address.inFlight += 1;
      attempt = new Attempt(exchange, (end) => {
        address.inFlight -= 1;
        ended(address, end);
      });
      address.pool.dispatch({ path: exchange.path + exchange.query, method: exchange.method, headers, body }, attempt);
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
