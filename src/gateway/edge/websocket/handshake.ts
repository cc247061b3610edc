import type { IncomingMessage } from 'node:http';
import { REFUSALS, withHeaders, type Refusal } from '../../refusal.js';
import { lowerName, onlyValueOf } from '../fields.js';

/** 16 bytes in base64 (RFC 6455 §4.1). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
const VERSION = '13';
/** Names the supported version (RFC 6455 §4.4). */
export const MALFORMED_HANDSHAKE = withHeaders(REFUSALS.malformed_handshake, 'Sec-WebSocket-Version', VERSION);

/** Returns whether a request asks for a WebSocket and nothing else, in a valid form: no body, no Expect. */
export function asksForWebSocket({ method, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersion !== '1.1') return false;
  let upgrades = 0;
  let websocket = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1]!;
    switch (lowerName(rawHeaders[index]!)) {
      case 'upgrade':
        upgrades += 1;
        websocket = value.toLowerCase() === 'websocket';
        break;
      case 'content-length':
        // Envoy sends this with every handshake.
        if (value !== '0') return false;
        break;
      case 'transfer-encoding':
      case 'expect':
        return false;
      default:
    }
  }
  return upgrades === 1 && websocket;
}

/** Returns what is wrong with a handshake; null if nothing. @param head bytes after it: none may follow (§4.1) */
export function handshakeFault({ rawHeaders }: IncomingMessage, head: Buffer): Refusal | null {
  const key = onlyValueOf(rawHeaders, 'sec-websocket-key');
  const valid =
    head.length === 0 && onlyValueOf(rawHeaders, 'sec-websocket-version') === VERSION && key !== null && KEY.test(key);
  return valid ? null : MALFORMED_HANDSHAKE;
}
