import type { Admitted } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { Attempt } from './attempt.js';
import type { OnReplaced } from './attempt.js';
import { deliver } from './deliver.js';
import type { Carry, OnUpstreamFailure } from './deliver.js';
import { requestHeaders } from './headers.js';
import type { Upstream, Upstreams } from './pools.js';
import type { OutgoingRequest } from './transport.js';
import { carryHandshake } from './upgrade.js';

/** Writes the answer of an operation the gateway serves itself. */
export type OwnAnswer = (exchange: Admitted) => Refusal | undefined | Promise<Refusal | undefined>;

/**
 * Sixth step: takes an admitted exchange, and only such a one, to the upstream, or to the
 * gateway's own answer. Gives the exchange once its answer is written, or its tunnel is open.
 */
export function createForward(
  upstreams: Upstreams,
  ownAnswers: ReadonlyMap<string, OwnAnswer>,
  internalToken: string,
  maxBodyBytes: number,
  onFailure: OnUpstreamFailure,
  onReplaced: OnReplaced,
): (exchange: Admitted) => Promise<Admitted | Refusal> {
  const answerItself = async (exchange: Admitted): Promise<Admitted | Refusal> =>
    (await ownAnswers.get(exchange.operation.id)!(exchange)) ?? exchange;

  const sendWithBody = async (exchange: Admitted, upstream: Upstream): Promise<Admitted | Refusal> => {
    if (exchange.contentLength !== null && exchange.contentLength > maxBodyBytes) return REFUSALS.body_too_large;
    const read = await exchange.client.readBody(maxBodyBytes);
    if (read === 'gone') return exchange;
    return Buffer.isBuffer(read) ? send(exchange, upstream, read) : read;
  };

  const send = (exchange: Admitted, upstream: Upstream, body: Buffer | null): Promise<Admitted | Refusal> => {
    const request = {
      method: exchange.method,
      target: exchange.path + exchange.query,
      headers: requestHeaders(exchange, internalToken),
      body,
    };
    return deliver(exchange, upstream, carryRequest(exchange, request, onReplaced), onFailure);
  };

  // No `await` on the way of most requests: each costs as much as the rest of this step.
  return (exchange) => {
    const { operation, client, logEntry } = exchange;
    if (operation.upstream === 'gateway') return answerItself(exchange);
    const upstream = upstreams.get(operation.upstream)!;
    logEntry.upstream = upstream.name;
    if (client.handshake !== undefined) {
      const carry = carryHandshake(exchange, client.handshake, internalToken, upstream.settings.connectMs, onReplaced);
      return deliver(exchange, upstream, carry, onFailure);
    }
    return exchange.hasBody ? sendWithBody(exchange, upstream) : send(exchange, upstream, null);
  };
}

/** Carries a plain request over the pool of an address. */
function carryRequest(exchange: Admitted, request: OutgoingRequest, onReplaced: OnReplaced): Carry {
  return ({ pool }, onEnd) => {
    const attempt = new Attempt(exchange, onReplaced, onEnd);
    return {
      start: () => attempt.dispatched(pool.dispatch(request, attempt)),
      stop: (end) => attempt.stop(end),
      withdraw: () => attempt.withdraw(),
    };
  };
}
