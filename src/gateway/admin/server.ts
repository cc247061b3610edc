import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { ChangeUncertain, StoreUnavailable } from '../admission/port.js';
import { KeyRefused } from '../keys/refused.js';
import type { KeyRefusedKind } from '../keys/refused.js';
import { isKeyId } from '../keys/token.js';
import { readActor } from './actor.js';
import { AdminRefusal, send, sendRefusal } from './answer.js';
import type { Answer } from './answer.js';
import { createAuthorize } from './authorize.js';
import type { Authorize } from './authorize.js';
import { BAN_ROUTES } from './bans.js';
import { bytesOf, readBody } from './body.js';
import { KEY_ROUTES } from './keys.js';
import { PROBE_ROUTES } from './probes.js';
import { readQuery } from './query.js';
import { matchRoute } from './route.js';
import type { AdminParts, Route } from './route.js';
import { USAGE_ROUTES } from './usage.js';

const ROUTES: readonly Route[] = [...PROBE_ROUTES, ...KEY_ROUTES, ...BAN_ROUTES, ...USAGE_ROUTES];

const REFUSALS: Readonly<Record<KeyRefusedKind, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_fields'],
  not_found: [404, 'key_not_found'],
  conflict: [409, 'conflict'],
};

/** How long a refused body may go on. */
const DRAIN_MS = 10_000;

/** The operators' listener: metrics, health and the admin API. Made, not yet listening. */
export function createAdmin(parts: AdminParts): Server {
  const authorize = createAuthorize(parts.token, parts.elapsedMs ?? (() => performance.now()));
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 0, connectionsCheckingInterval: 1_000 },
    (req, res) => {
      void serve(parts, authorize, req, res);
    },
  );
  // Node's own answer to bytes that are no HTTP has no body a client could read.
  server.on('clientError', (_error: Error, socket: Socket) => {
    if (socket.writable) socket.end(MALFORMED);
    else socket.destroy();
  });
  return server;
}

const MALFORMED_BODY = JSON.stringify({ code: 'bad_request', message: 'This is not valid HTTP/1.1.', status: 400 });
const MALFORMED = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${MALFORMED_BODY.length}\r\nConnection: close\r\n\r\n${MALFORMED_BODY}`;

async function serve(
  parts: AdminParts,
  authorize: Authorize,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    await send(res, await answer(parts, authorize, req));
  } catch (error) {
    if (res.headersSent) {
      // Part of the answer is out: cut it, so that nobody takes it for the whole.
      if (!res.destroyed) res.destroy();
      const gone = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
      parts.log[gone ? 'debug' : 'warn'](
        { err: nameOf(error) },
        gone ? 'the caller left before the answer ended' : 'an admin answer was cut short',
      );
    } else if (req.errored === null) {
      await drain(req);
      sendRefusal(res, refusalOf(parts, error));
    }
  } finally {
    req.resume();
  }
}

/** Reads what is left of a refused body: a client that is still sending meets a reset where it should read the answer. */
async function drain(req: IncomingMessage): Promise<void> {
  const signal = AbortSignal.timeout(DRAIN_MS);
  await finished(req.resume(), { signal, cleanup: true }).catch(() => undefined);
}

async function answer(parts: AdminParts, authorize: Authorize, req: IncomingMessage): Promise<Answer> {
  const method = req.method ?? '';
  const url = req.url ?? '';
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const search = mark === -1 ? '' : url.slice(mark + 1);
  const match = matchRoute(ROUTES, method, path);
  const known = match.kind === 'route' ? match.route : undefined;
  if (known?.open !== true)
    authorize({
      header: req.headers.authorization,
      address: req.socket.remoteAddress,
      browser: known?.browser === true,
    });
  if (match.kind === 'not_found')
    throw new AdminRefusal(
      404,
      'not_found',
      'There is nothing at this path. The admin API begins with /admin/v1/keys, /admin/v1/bans and /admin/v1/usage.',
    );
  if (match.kind === 'method_not_allowed') {
    throw new AdminRefusal(405, 'method_not_allowed', `This path knows ${match.allow}.`, { Allow: match.allow });
  }
  const { route, id } = match;
  const query = readQuery(new URLSearchParams(search), route.query ?? []);
  const actor = readActor(req);
  const isBare = route.method === 'GET' || route.method === 'DELETE' || route.streams === true;
  const body = isBare ? {} : await readBody(req);
  const result = await route.handle({ parts, id, query, body, bytes: bytesOf(req), actor });
  // What changed is in the keys' history; the log says that something was. The path may hold a key by mistake.
  if (route.method !== 'GET')
    parts.log.info(
      { method, route: route.path, status: result.status, actor, ...(isKeyId(id) ? { key: id } : {}) },
      'admin change',
    );
  return result;
}

function refusalOf(parts: AdminParts, error: unknown): AdminRefusal {
  if (error instanceof AdminRefusal) return error;
  if (error instanceof KeyRefused) {
    const [status, code] = REFUSALS[error.kind];
    return new AdminRefusal(status, code, error.message);
  }
  if (error instanceof ChangeUncertain) return new AdminRefusal(503, 'change_uncertain', error.message);
  if (error instanceof StoreUnavailable) {
    return new AdminRefusal(
      503,
      'store_unavailable',
      'The store does not answer. Nothing is known to have changed: look, then try again.',
      { 'Retry-After': '1' },
    );
  }
  parts.log.error({ err: nameOf(error) }, 'an admin request failed');
  return new AdminRefusal(500, 'internal_error', 'Something went wrong here; the log has the details.');
}

/** An error for the log: where it came from, not what was sent. */
function nameOf(error: unknown): Record<string, unknown> {
  return error instanceof Error
    ? { type: error.name, message: error.message, stack: error.stack }
    : { type: typeof error };
}
