import { shed, type Admitted, type Identified, type Slot } from '../exchange.js';
import { REFUSALS, type Refusal } from '../refusal.js';
import { Attempt, type ErrorRules, type OnReplaced } from './attempt.js';
import { credentialsOf, type Credentials } from './credentials.js';
import { deliver, type Carry } from './deliver.js';
import type { OnUpstreamFailure } from './failure.js';
import { outgoingRequest } from './outgoing.js';
import { noSlot, type Upstream, type Upstreams } from './pools.js';
import { carryHandshake } from './upgrade.js';

/** Writes the answer of an operation the gateway serves itself. */
export type OwnAnswer = (exchange: Admitted) => Refusal | undefined | Promise<Refusal | undefined>;

/** An upstream with what its settings make of requests and answers, worked out once. */
interface Rules extends ErrorRules {
  readonly upstream: Upstream;
  readonly credentials: Credentials;
}

/**
 * Sixth step: takes an admitted exchange, and only such a one, to the upstream, or to the gateway's own answer. Gives
 * the exchange once its answer is written, or its tunnel is open.
 */
export function createForward(
  upstreams: Upstreams,
  ownAnswers: ReadonlyMap<string, OwnAnswer>,
  internalToken: string,
  maxBodyBytes: number,
  onFailure: OnUpstreamFailure,
  onReplaced: (secrets: readonly string[]) => OnReplaced,
  mayGoOn: (exchange: Admitted) => Promise<boolean>,
): (exchange: Admitted) => Promise<Admitted | Refusal> {
  const rulesOf = new Map<string, Rules>();
  for (const [name, upstream] of upstreams) {
    const { errors } = upstream.settings;
    const credentials = credentialsOf(upstream.settings, internalToken);
    rulesOf.set(name, { upstream, credentials, errors, onReplaced: onReplaced(credentials.secrets) });
  }
  const answerItself = async (exchange: Admitted): Promise<Admitted | Refusal> =>
    (await ownAnswers.get(exchange.operation.id)!(exchange)) ?? exchange;

  const sendWithBody = async (exchange: Admitted, rules: Rules): Promise<Admitted | Refusal> => {
    const read = await exchange.client.readBody(maxBodyBytes);
    if (read === 'gone') return exchange;
    return Buffer.isBuffer(read) ? send(exchange, rules, read) : read;
  };

  const send = (exchange: Admitted, rules: Rules, body: Buffer | null): Promise<Admitted | Refusal> => {
    const request = outgoingRequest(exchange, rules.upstream, rules.credentials, body);
    const carry: Carry = ({ pool }, onEnd) =>
      new Attempt(exchange, rules, onEnd, (attempt) => pool.dispatch(request, attempt));
    return deliver(exchange, rules.upstream, carry, onFailure, mayGoOn);
  };

  // No `await` on the way of most requests: each costs as much as the rest of this step.
  return (exchange) => {
    const { operation, client, logEntry } = exchange;
    if (operation.upstream === 'gateway') return answerItself(exchange);
    // It is sent in this turn; else its body is still to come, and a slow one must keep nobody out.
    exchange.slot?.free();
    const rules = rulesOf.get(operation.upstream)!;
    const { upstream, credentials } = rules;
    logEntry.upstream = upstream.name;
    if (client.handshake !== undefined) {
      const request = outgoingRequest(exchange, upstream, credentials, null);
      const carry = carryHandshake(exchange, client.handshake, request, upstream.settings.connectMs, rules);
      return deliver(exchange, upstream, carry, onFailure, mayGoOn);
    }
    return exchange.hasBody ? sendWithBody(exchange, rules) : send(exchange, rules, null);
  };
}

/**
 * Part of `admit`: reserves a place at the upstream, and room for the body, before the store is asked, so that a
 * request refused for lack of them costs nothing. Null where none is needed, or there is none: then the exchange is
 * shed.
 */
export function createReserve(
  upstreams: Upstreams,
  maxBodyBytes: number,
  onFailure: OnUpstreamFailure,
): (exchange: Identified) => Slot | null | Promise<Slot | null> {
  const reserveBody = async ({ client, contentLength }: Identified): Promise<Refusal | null> => {
    if (contentLength !== null && contentLength > maxBodyBytes) return REFUSALS.body_too_large;
    // What came with the head is whole by then, and takes no place of those that are on their way.
    await new Promise((resolve) => setImmediate(resolve));
    return client.reserveBody(contentLength, maxBodyBytes);
  };

  return (exchange) => {
    const { match, refusal, secured } = exchange.requirements;
    if (match?.kind !== 'operation' || refusal !== null) return null;
    // Without a key it is refused anyway.
    if (secured && exchange.subject.kind === 'address') return null;
    const upstream = upstreams.get(match.operation.upstream);
    if (upstream === undefined) return null;
    const held = (slot: Slot | null): Slot | null => {
      if (slot === null) shed(exchange, noSlot(upstream, onFailure));
      return slot;
    };
    const reserve = (): Slot | null | Promise<Slot | null> => {
      const slot = upstream.reserve(match.operation.id);
      return slot instanceof Promise ? slot.then(held) : held(slot);
    };
    if (!exchange.hasBody) return reserve();
    return reserveBody(exchange).then((noRoom) => {
      if (noRoom === null) return reserve();
      shed(exchange, noRoom);
      return null;
    });
  };
}
