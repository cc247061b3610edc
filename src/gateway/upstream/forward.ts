import { shed, type Admitted, type Asking, type Body, type BodyRest, type Identified, type Slot } from '../exchange.js';
import type { EdgeLimits } from '../config/schema/limits.js';
import { bodyTooLarge, isRefusal, REFUSALS, upstreamTimeout, type Refusal } from '../refusal.js';
import { askingOf } from './addresses/share.js';
import { Attempt, type OnReplaced, type ResponseRules } from './attempt.js';
import { credentialsOf, type Credentials } from './credentials.js';
import { deliver, type Carry } from './deliver.js';
import type { OnUpstreamFailure } from './addresses/failure.js';
import { outgoingRequest } from './outgoing.js';
import { ownAddressesOf } from './own-addresses.js';
import { noSlot, type Upstream, type Upstreams } from './pools.js';
import { carryHandshake } from './upgrade.js';

/** Responds to an operation that the gateway serves itself. */
export type OwnResponse = (exchange: Admitted) => Refusal | undefined | Promise<Refusal | undefined>;

/** An upstream with its rules for requests and responses, built once. */
interface Rules extends ResponseRules {
  readonly upstream: Upstream;
  readonly credentials: Credentials;
}

/**
 * Sixth step: takes an admitted exchange to the upstream, or to the gateway's own operation. Returns the exchange once
 * its response is written or its tunnel is open.
 */
export function createForward(
  upstreams: Upstreams,
  ownAnswers: ReadonlyMap<string, OwnResponse>,
  internalToken: string,
  { caller_share: share }: Pick<EdgeLimits, 'caller_share'>,
  onFailure: OnUpstreamFailure,
  onReplaced: (secrets: readonly string[]) => OnReplaced,
  stillAllowed: (exchange: Admitted) => Promise<boolean>,
): (exchange: Admitted) => Promise<Admitted | Refusal> {
  const rulesOf = new Map<string, Rules>();
  for (const [name, upstream] of upstreams) {
    const { errors } = upstream.settings;
    const credentials = credentialsOf(upstream.settings, internalToken);
    const own = ownAddressesOf(upstream.settings);
    const { internalToken: token } = upstream;
    const replaced = onReplaced(credentials.secrets);
    rulesOf.set(name, { upstream, credentials, errors, own, onReplaced: replaced, internalToken: token });
  }
  const respondItself = async (exchange: Admitted): Promise<Admitted | Refusal> =>
    (await ownAnswers.get(exchange.operation.id)!(exchange)) ?? exchange;

  /** The operation has no body. A chunked body or an open HTTP/2 stream may be empty: only its end shows it. */
  const sendWithoutBody = async (exchange: Admitted, rules: Rules | null): Promise<Admitted | Refusal> => {
    const { client } = exchange;
    const noRoom = rules === null ? await reserveBody(exchange, 0) : null;
    const body = noRoom ?? (await client.readBody(null, 0));
    if (body === 'gone') return exchange;
    if (isRefusal(body)) return body.code === 'body_too_large' ? REFUSALS.unexpected_body : body;
    return rules === null ? respondItself(exchange) : send(exchange, rules, null);
  };

  const sendWithBody = async (exchange: Admitted, rules: Rules): Promise<Admitted | Refusal> => {
    const { client, contentLength, operation } = exchange;
    if (!operation.hasBody) return sendWithoutBody(exchange, rules);
    const body = await client.readBody(contentLength, operation.bodyBytes ?? rules.upstream.settings.body_size);
    if (body === 'gone') return exchange;
    if (isRefusal(body)) return body;
    return body.rest === null ? send(exchange, rules, body) : sendLong(exchange, rules, body, body.rest);
  };

  /** Holds a slot at the upstream while the client sends. Waiting too long for one counts as waiting for a response. */
  const sendLong = async (
    exchange: Admitted,
    rules: Rules,
    body: Body,
    rest: BodyRest,
  ): Promise<Admitted | Refusal> => {
    const { uploads, timeLimits } = rules.upstream;
    const { addressBucket: caller, logEntry } = exchange;
    logEntry.rest = rest;
    if (!(await uploads.enter({ caller, share }, timeLimits.deadline.ms))) {
      rest.stop();
      onFailure(rules.upstream.name, 'full');
      return upstreamTimeout(timeLimits.deadline);
    }
    rest.onOver(() => uploads.leave(caller));
    return send(exchange, rules, body);
  };

  const send = (exchange: Admitted, rules: Rules, body: Body | null): Promise<Admitted | Refusal> => {
    const { upstream, credentials } = rules;
    const request = outgoingRequest(exchange, upstream, credentials, body);
    const carry: Carry = ({ pool }, onEnd) =>
      new Attempt(exchange, rules, onEnd, (attempt) => pool.dispatch(request, attempt));
    const asking = whoAsks(exchange, share);
    return deliver({ exchange, upstream, asking, rest: body?.rest ?? null, carry }, onFailure, stillAllowed);
  };

  // No `await` for most requests: each costs as much as the rest of this step.
  return (exchange) => {
    const { operation, client } = exchange;
    if (operation.upstream === 'gateway') {
      const isEmpty = !exchange.hasBody || operation.hasBody || exchange.requirements.match?.kind !== 'operation';
      return isEmpty ? respondItself(exchange) : sendWithoutBody(exchange, null);
    }
    // Sent in this turn; otherwise its body is still arriving, and a slow one must not block others.
    exchange.slot?.free();
    const rules = rulesOf.get(operation.upstream)!;
    const { upstream, credentials } = rules;
    exchange.logEntry.upstream = upstream.name;
    if (client.handshake !== undefined) {
      const request = outgoingRequest(exchange, upstream, credentials, null);
      const carry = carryHandshake(exchange, client.handshake, request, upstream.settings.connect, rules);
      const asking = whoAsks(exchange, share);
      return deliver({ exchange, upstream, asking, rest: null, carry }, onFailure, stillAllowed);
    }
    return exchange.hasBody ? sendWithBody(exchange, rules) : send(exchange, rules, null);
  };
}

/** Returns what its slot was reserved for, if it had one. */
function whoAsks(exchange: Admitted, share: number): Asking {
  return exchange.slot?.asking ?? askingOf(exchange, exchange.operation.id, share);
}

/**
 * Part of `admit`: reserves a slot at the upstream and memory for the body before asking the store, so that a request
 * refused for lack of them costs nothing. Null if none is needed, or none is free: then the exchange is shed.
 */
export function createReserve(
  upstreams: Upstreams,
  caller_share: number,
  onFailure: OnUpstreamFailure,
): (exchange: Identified) => Slot | null | Promise<Slot | null> {
  return (exchange) => {
    const { match, refusal, secured } = exchange.requirements;
    if (match?.kind !== 'operation' || refusal !== null) return null;
    // It is refused anyway without a key.
    if (secured && exchange.subject.kind === 'address') return null;
    const upstream = upstreams.get(match.operation.upstream);
    if (upstream === undefined) return null;
    const asking = askingOf(exchange, match.operation.id, caller_share);
    const held = (slot: Slot | null): Slot | null => {
      if (slot === null) shed(exchange, noSlot(upstream, asking, onFailure));
      return slot;
    };
    const reserve = (): Slot | null | Promise<Slot | null> => {
      const slot = upstream.reserve(asking);
      return slot instanceof Promise ? slot.then(held) : held(slot);
    };
    if (!exchange.hasBody) return reserve();
    return reserveBody(exchange, match.operation.bodyBytes ?? upstream.settings.body_size).then((noRoom) => {
      if (noRoom === null) return reserve();
      shed(exchange, noRoom);
      return null;
    });
  };
}

async function reserveBody({ client, contentLength }: Identified, maxBytes: number): Promise<Refusal | null> {
  if (contentLength !== null && contentLength > maxBytes) return bodyTooLarge(maxBytes);
  // One turn later, a body that arrived with the head is complete, and needs no slot for waiting.
  await new Promise((resolve) => setImmediate(resolve));
  return client.reserveBody(contentLength, maxBytes);
}
