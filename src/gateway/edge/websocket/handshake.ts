import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, withHeaders } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import { Request } from '../body.js';
import { lowerName, onlyValueOf } from '../fields.js';

/** 16 bytes in base64 (RFC 6455 §4.1). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
const VERSION = '13';
/** Says what would be right (RFC 6455 §4.4). */
export const MALFORMED_HANDSHAKE = withHeaders(REFUSALS.malformed_handshake, 'Sec-WebSocket-Version', VERSION);

/**
 * Requests that say themselves whether they leave HTTP. On every version of Node from 20 on, the parser
 * sets `upgrade` to what the fields ask for, and the server reads it once head and method are known:
 * true gives the connection away by the event `upgrade`, false serves a plain request. (A listener
 * alone would take every request with an Upgrade field, and `shouldUpgradeCallback` is not on Node 20.)
 * It is also the one way to stop the parser, which else makes requests of all that it was given.
 * @param isOver whether nothing more is to be read from this connection
 */
export function requestsThat(upgrade: (request: IncomingMessage) => boolean, isOver: (socket: Socket) => boolean): typeof IncomingMessage {
  return class extends Request {
    declare asked: boolean | null;
    declare granted: boolean | undefined;

    get upgrade(): boolean | null {
      const { asked } = this;
      if (asked === null) return null;
      return (this.granted ??= isOver(this.socket) || (asked && (this.method === 'CONNECT' || upgrade(this))));
    }

    set upgrade(asked: boolean | null) {
      this.asked = asked;
    }
  };
}

/** True of a plain request whose Upgrade was ignored (RFC 9110 §7.8). Node's parser drops what follows its head in the same read. */
export function ignoredUpgrade(request: IncomingMessage): boolean {
  return (request as { asked?: boolean | null }).asked === true;
}

/** Whether a request asks for a WebSocket, and for nothing else, and can have one by its form: no body, no Expect. */
export function asksForWebSocket({ method, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersion !== '1.1') return false;
  let upgrades = 0;
  let websocket = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    switch (lowerName(rawHeaders[index]!)) {
      case 'upgrade':
        upgrades += 1;
        websocket = rawHeaders[index + 1]!.toLowerCase() === 'websocket';
        break;
      case 'content-length': case 'transfer-encoding': case 'expect': return false;
      default:
    }
  }
  return upgrades === 1 && websocket;
}

/** What is wrong with a handshake; null when nothing is. `head` is what came behind it: nothing may (RFC 6455 §4.1). */
export function handshakeFault({ rawHeaders }: IncomingMessage, head: Buffer): Refusal | null {
  const key = onlyValueOf(rawHeaders, 'sec-websocket-key');
  const good = head.length === 0 && onlyValueOf(rawHeaders, 'sec-websocket-version') === VERSION && key !== null && KEY.test(key);
  return good ? null : MALFORMED_HANDSHAKE;
}
