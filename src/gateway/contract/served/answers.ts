import { commonHeaders } from '../../answer.js';
import type { Cors } from '../../edge/cors.js';
import type { Admitted } from '../../exchange.js';

/** Responds to OPTIONS with the methods of the path, at no cost; to a CORS preflight (Fetch) also with CORS fields. */
export function createOptionsAnswer(cors: Cors | null): (exchange: Admitted) => undefined {
  return (exchange) => {
    const { match } = exchange.requirements;
    const headers = commonHeaders(exchange);
    if (match?.kind === 'options') {
      headers.push('Allow', match.allow);
      if (cors !== null) headers.push(...cors.preflightFields(exchange.headers, match.allow));
    }
    exchange.client.send(204, headers, '');
  };
}

export function createDocumentAnswer(document: Buffer): (exchange: Admitted) => undefined {
  return (exchange) => {
    const headers = commonHeaders(exchange);
    headers.push('Content-Type', 'application/json', 'Content-Length', String(document.length));
    headers.push('Cache-Control', 'public, max-age=300');
    exchange.client.send(200, headers, document);
  };
}
