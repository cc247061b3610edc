import { commonHeaders } from '../../answer.js';
import type { Cors } from '../../edge/cors.js';
import type { Admitted } from '../../exchange.js';
import { REFUSALS, type Refusal } from '../../refusal.js';
import { groupIn } from './group.js';
import type { Written } from './parts.js';
import { createPieces } from './piece.js';

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

/** Serves the document, or only one tag's operations (`?tag=pets`) with everything they refer to. */
export function createDocumentAnswer(written: Written): (exchange: Admitted) => Refusal | undefined {
  const pieces = createPieces(written);
  return (exchange) => {
    const group = groupIn(exchange.query);
    const body = group === undefined ? written.document : pieces(group);
    if (body === null) return REFUSALS.not_found;
    const headers = commonHeaders(exchange);
    headers.push('Content-Type', 'application/json', 'Content-Length', String(body.length));
    headers.push('Cache-Control', 'public, max-age=300');
    exchange.client.send(200, headers, body);
    return undefined;
  };
}
