import { setImmediate as nextTurn } from 'node:timers/promises';
import { refuse } from '../answer.js';
import { releaseFields, type Exchange } from '../exchange.js';
import { isRefusal, REFUSALS, type Refusal } from '../refusal.js';
import type { ServedClient } from './client.js';
import type { Handler } from './handler.js';
import { open, type Head } from './open.js';
import type { Traffic } from './traffic.js';

interface Beginning {
  readonly client: ServedClient;
  readonly head: Head;
  /** An error in the request that its head does not show. */
  readonly fault: Refusal | null;
  /** Too many exchanges are in flight: this one is refused unread. */
  readonly overloaded: boolean;
  /** Called once, when the client has its response or has left. */
  readonly onClosed?: () => void;
}

/**
 * Takes an exchange from its head to its end, for HTTP/1, HTTP/2 and WebSocket handshakes. Its resources are released
 * once the client has its response or is gone: over HTTP/2, clients can abandon thousands of undecided requests,
 * for one frame each. It is finished only when it was also decided, so that everything counted is reported.
 */
export function begin(
  { client, head, fault, overloaded, onClosed }: Beginning,
  handler: Handler,
  traffic: Traffic,
): Exchange {
  traffic.begin(client);
  const exchange = open(head, client, handler.addresses, handler.limits, fault);
  client.caller = exchange.addressBucket;
  let left = 2;
  const end = (): void => {
    left -= 1;
    if (left === 0) handler.finish(exchange, client.status);
  };
  client.onClosed = () => {
    onClosed?.();
    traffic.end(client);
    end();
  };
  void run(exchange, handler, overloaded).then(end);
  return exchange;
}

async function run(exchange: Exchange, handler: Handler, overloaded: boolean): Promise<void> {
  if (handler.cors !== null) exchange.logEntry.cors = handler.cors.fieldsFor(exchange.headers);
  try {
    // One turn later, a request that has arrived completely by then keeps its connection.
    const result = await (overloaded ? nextTurn(REFUSALS.overloaded) : handler.run(exchange));
    if (isRefusal(result)) refuse(exchange, result, handler.errors);
  } catch (error) {
    handler.onBug(error, exchange);
    refuseOrCut(exchange, handler);
  }
  // The response may wait a long time for its client.
  releaseFields(exchange);
  if (exchange.logEntry.tunnel !== null) handler.tunnelOpened(exchange);
}

/** After an internal error even the refusal may fail; one reset connection is better than a dead gateway. */
function refuseOrCut(exchange: Exchange, { errors }: Handler): void {
  try {
    refuse(exchange, REFUSALS.internal_error, errors);
  } catch {
    exchange.client.abort();
  }
}
