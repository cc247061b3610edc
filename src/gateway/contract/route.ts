import { EVERY_OPERATION } from '../admission/windows.js';
import { onlyValueOf, wantsHtml } from '../edge/fields.js';
import { toRouted, type RouteRequirements, type Routed, type Stripped } from '../exchange.js';
import { REFUSALS, withHeaders, type Refusal } from '../refusal.js';
import type { Match, Operation, RouteTable } from './operation.js';
import { DOCS, OWN_USAGE, ownOperation } from './own.js';

/** What the ledger calls a request for which the contract has no operation. */
export const UNMATCHED = 'unmatched';
/** What metrics and log call a request that was wrong before it could be routed. */
export const MALFORMED = 'malformed';
export const OPTIONS = 'options';
/** Of a path that an upstream may read as another template's. */
const SIMILAR: Refusal = { ...REFUSALS.not_found, setting: 'similar_paths' };

/**
 * Third step: names the operation, or the refusal that stands unless admission says 401 or 429.
 * @param isServed false for what the contract announces but nobody answers yet
 * @param answersPreflights whether CORS preflights for the operation are its upstream's to answer
 */
export function createRoute(
  table: RouteTable,
  isServed: (operation: Operation) => boolean,
  now: () => number,
  answersPreflights: (operation: Operation) => boolean = () => false,
): (exchange: Stripped) => Routed {
  const byOperation = new Map<Operation, RouteRequirements>(
    table.operations.map((operation) => [
      operation,
      {
        operation: operation.id,
        reportsAs: operation.id === OWN_USAGE ? EVERY_OPERATION : operation.id,
        scope: operation.scope,
        cost: operation.cost,
        secured: operation.secured,
        match: { kind: 'operation', operation },
        refusal: null,
      },
    ]),
  );
  const docs = ownOperation(table.operations, DOCS);

  const requirementsOf = (exchange: Stripped): RouteRequirements => {
    if (exchange.fault !== null) return requirementsWithout(MALFORMED, null, exchange.fault);
    const preflight = exchange.method === 'OPTIONS' ? preflightRequirements(exchange) : null;
    if (preflight !== null) return preflight;
    const match = table.match(exchange.method, exchange.path);
    switch (match.kind) {
      case 'not_found':
        if (docs !== undefined && isBrowserAtRoot(exchange)) return operationRequirements(exchange, docs);
        return requirementsWithout(UNMATCHED, match, match.setting === undefined ? REFUSALS.not_found : SIMILAR);
      case 'method_not_allowed':
        return requirementsWithout(UNMATCHED, match, withHeaders(REFUSALS.method_not_allowed, 'Allow', match.allow));
      case 'options':
        if (match.operation !== undefined && !isPreflight(exchange))
          return operationRequirements(exchange, match.operation);
        return requirementsWithout(OPTIONS, match, null);
      case 'operation':
        return operationRequirements(exchange, match.operation);
    }
  };

  /** Null for an OPTIONS that is no preflight (Fetch, "CORS-preflight request"), or one for the gateway. */
  const preflightRequirements = ({ path, headers, hasBody }: Stripped): RouteRequirements | null => {
    const method = onlyValueOf(headers, 'access-control-request-method');
    if (method === null || hasBody || onlyValueOf(headers, 'origin') === null) return null;
    const match = table.match(method, path);
    if (match.kind !== 'operation' || !isServed(match.operation) || !answersPreflights(match.operation)) return null;
    return { ...requirementsWithout(OPTIONS, match, null), cost: 1, isPreflight: true };
  };

  const operationRequirements = (exchange: Stripped, operation: Operation): RouteRequirements => {
    exchange.logEntry.headers = operation.headers;
    const requirements = byOperation.get(operation)!;
    const refusal = standingRefusal(exchange, operation);
    return refusal === null ? requirements : { ...requirements, refusal };
  };

  const standingRefusal = (exchange: Stripped, operation: Operation): Refusal | null => {
    if (operation.sunsetAtMs !== null && now() >= operation.sunsetAtMs) return REFUSALS.operation_removed;
    if (!isServed(operation)) return REFUSALS.not_implemented;
    if (!table.fits(operation, exchange.path)) return REFUSALS.not_found;
    if (!exchange.hasBody) return null;
    if (isGrpc(exchange)) return REFUSALS.grpc_not_supported;
    // Of one without a length only its end tells whether it is empty (`upstream/forward.ts`).
    return operation.hasBody || exchange.contentLength === null ? null : REFUSALS.unexpected_body;
  };

  return (exchange) => toRouted(exchange, requirementsOf(exchange));
}

/** gRPC-Web is plain HTTP/1.1, and passes. */
function isGrpc({ headers }: Stripped): boolean {
  return /^application\/grpc(?:$|[+; ])/i.test(onlyValueOf(headers, 'content-type') ?? '');
}

/** A browser asks whether a page may send a request (Fetch, "CORS-preflight request"), without a key. */
function isPreflight({ headers }: Stripped): boolean {
  return onlyValueOf(headers, 'access-control-request-method') !== null;
}

function isBrowserAtRoot({ method, path, headers }: Stripped): boolean {
  return path === '/' && (method === 'GET' || method === 'HEAD') && wantsHtml(onlyValueOf(headers, 'accept') ?? '');
}

/** Of what is none of the contract's operations: only one that it has no name for costs, and wants a key. */
function requirementsWithout(operation: string, match: Match | null, refusal: Refusal | null): RouteRequirements {
  const secured = operation === UNMATCHED;
  return { operation, reportsAs: operation, scope: null, cost: Number(secured), secured, match, refusal };
}
