import { EVERY_OPERATION } from '../admission/windows.js';
import { onlyValueOf, wantsHtml } from '../edge/fields.js';
import { toRouted, type RouteRequirements, type Routed, type Stripped } from '../exchange.js';
import { REFUSALS, withHeaders, type Refusal } from '../refusal.js';
import { holdOf } from './operation/cost.js';
import type { Match, Operation, RouteTable } from './operation/operation.js';
import { DOCS, OWN_USAGE, ownOperation } from './own.js';

/** The name in the ledger for a request that matches no operation of the contract. */
export const UNMATCHED = 'unmatched';
/** The name in metrics and the log for a request that was faulty before it could be routed. */
export const MALFORMED = 'malformed';
export const OPTIONS = 'options';
/** For a path that an upstream may read as another template's. */
const SIMILAR: Refusal = { ...REFUSALS.not_found, setting: 'similar_paths' };

/**
 * Third step: names the operation, or the refusal to send unless admission answers 401 or 429 first.
 * @param isServed returns false if the contract announces the operation, but nothing serves it yet
 * @param answersPreflights returns whether the operation's upstream responds to its CORS preflights
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
        metered: operation.metered,
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

  /** Returns null unless it is a preflight (Fetch, "CORS-preflight request") that an upstream responds to. */
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
    const said = operation.metered?.said ?? null;
    if (refusal === null && said === null) return requirements;
    return { ...requirements, refusal, cost: said === null ? operation.cost : holdOf(said, exchange) };
  };

  const standingRefusal = (exchange: Stripped, operation: Operation): Refusal | null => {
    if (operation.sunsetAtMs !== null && now() >= operation.sunsetAtMs) return REFUSALS.operation_removed;
    if (!isServed(operation)) return REFUSALS.not_implemented;
    if (!table.fits(operation, exchange.path)) return REFUSALS.not_found;
    if (!exchange.hasBody) return null;
    if (isGrpc(exchange)) return REFUSALS.grpc_not_supported;
    // Without Content-Length, only the end of a body shows whether it is empty (`upstream/forward.ts`).
    return operation.hasBody || exchange.contentLength === null ? null : REFUSALS.unexpected_body;
  };

  return (exchange) => toRouted(exchange, requirementsOf(exchange));
}

/** Returns false for gRPC-Web, which is plain HTTP/1.1 and passes. */
function isGrpc({ headers }: Stripped): boolean {
  return /^application\/grpc(?:$|[+; ])/i.test(onlyValueOf(headers, 'content-type') ?? '');
}

/** Returns whether an OPTIONS asks if a page may send a request (Fetch, "CORS-preflight request"); it has no key. */
function isPreflight({ headers }: Stripped): boolean {
  return ['access-control-request-method', 'origin'].every((name) => onlyValueOf(headers, name) !== null);
}

function isBrowserAtRoot({ method, path, headers }: Stripped): boolean {
  return path === '/' && (method === 'GET' || method === 'HEAD') && wantsHtml(onlyValueOf(headers, 'accept') ?? '');
}

/** Returns requirements for a request without an operation. Only an unmatched one costs a unit and requires a key. */
function requirementsWithout(operation: string, match: Match | null, refusal: Refusal | null): RouteRequirements {
  const secured = operation === UNMATCHED;
  const cost = Number(secured);
  return { operation, reportsAs: operation, scope: null, cost, metered: null, secured, match, refusal };
}
