import type { Admitted } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { Attempt } from './attempt.js';
import type { OnReplaced } from './attempt.js';
import { deliver } from './deliver.js';
import type { Carry, OnUpstreamFailure } from './deliver.js';
import { requestHeaders } from './headers.js';
import type { Upstreams } from './pools.js';
import type { OutgoingRequest } from './transport.js';
import { carryHandshake } from './upgrade.js';

/** Writes the answer of an operation the gateway serves itself. */
export type OwnAnswer = (exchange: Admitted) => Refusal | undefined | Promise<Refusal | undefined>;

/**
 * Sixth step: takes an admitted exchange, and only such a one, to the service behind, or to the
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
  return async (exchange) => {
    const { operation, client, story } = exchange;
    if (operation.upstream === 'gateway') return (await ownAnswers.get(operation.id)!(exchange)) ?? exchange;
    const upstream = upstreams.get(operation.upstream)!;
    story.upstream = upstream.name;
    if (client.handshake !== undefined) {
      const carry = carryHandshake(exchange, client.handshake, internalToken, upstream.settings.connectMs, onReplaced);
      return (await deliver(exchange, upstream, carry, onFailure)) ?? exchange;
    }
    let body: Buffer | null = null;
    if (exchange.hasBody) {
      if (exchange.contentLength !== null && exchange.contentLength > maxBodyBytes) return REFUSALS.body_too_large;
      const read = await client.readBody(maxBodyBytes);
      if (read === 'gone') return exchange;
      if (!Buffer.isBuffer(read)) return read;
      body = read;
    }
    const request = { method: exchange.method, target: exchange.path + exchange.query, headers: requestHeaders(exchange, internalToken), body };
    return (await deliver(exchange, upstream, carryRequest(exchange, request, onReplaced), onFailure)) ?? exchange;
  };
}

/** Carries a plain request over the pool of an address. */
function carryRequest(exchange: Admitted, request: OutgoingRequest, onReplaced: OnReplaced): Carry {
  return ({ pool }, onEnd) => {
    const attempt = new Attempt(exchange, onReplaced, onEnd);
    return { start: () => attempt.dispatched(pool.dispatch(request, attempt)), stop: (end) => attempt.stop(end), withdraw: () => attempt.withdraw() };
  };
}
