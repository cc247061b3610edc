import type { IncomingMessage, Server } from 'node:http';
import { finished } from 'node:stream/promises';
import { fastify, type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { StoreUnavailable } from '../admission/port.js';
import { ChangeUncertain } from '../store/port.js';
import { ArchiveUnavailable } from '../usage/archive/errors.js';
import { KeyRefused, type KeyRefusedKind } from '../accounts/refused.js';
import { isCustomerId, isKeyId } from '../accounts/token.js';
import { wantsHtml } from '../edge/fields.js';
import { createAuthorize, type Caller } from './access/authorize.js';
import { createHostCheck } from './access/host.js';
import { AdminTokens } from './access/tokens.js';
import { readActor } from './access/actor.js';
import { type Answer, AdminRefusal, nameOf, send, sendRefusal } from './answer.js';
import { bytesOf, PATIENCE_MS, readBody } from './input/body.js';
import { readQuery } from './input/query.js';
import { statusOf, unmatched, type AdminParts, type Route } from './route.js';
import { ROUTES } from './routes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The entry of the table that a request is for; absent where there is none. */
    readonly route?: Route;
  }
  interface FastifyRequest {
    /** Whose token it was; null where none is asked for. */
    caller: Caller | null;
  }
}

const BODY_BYTES = 65_536;
/** Where a browser is led that asks for `/`. */
const FIRST_PAGE = '/admin/usage';
/** How long a refused body may go on. */
const DRAIN_MS = 10_000;

const REFUSALS: Readonly<Record<KeyRefusedKind, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_fields'],
  not_found: [404, 'key_not_found'],
  no_customer: [404, 'customer_not_found'],
  no_grant: [404, 'grant_not_found'],
  no_webhook: [404, 'webhook_not_found'],
  conflict: [409, 'conflict'],
};

const MALFORMED_BODY = JSON.stringify({ code: 'bad_request', message: 'This is not valid HTTP/1.1.', status: 400 });
const MALFORMED =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ' +
  `${MALFORMED_BODY.length}\r\nConnection: close\r\n\r\n${MALFORMED_BODY}`;

/** No route has a schema for fastify, whose compilers would take longer to load than all else of it. */
const noSchemas = (): never => {
  throw new Error('routes of the admin API have no fastify schema');
};

/** The operators' listener: metrics, health and the admin API. Ready, not yet listening. */
export async function createAdmin(parts: AdminParts): Promise<Server> {
  const tokens = new AdminTokens(parts.engine.tokens, () => parts.registry.nowMs());
  const authorize = createAuthorize(parts.token, tokens, parts.elapsedMs ?? (() => performance.now()));
  const checkHost = createHostCheck(parts.hosts ?? []);
  const admit = async (request: FastifyRequest): Promise<void> => {
    const { raw, method, url, routeOptions } = request;
    checkHost(raw.headers.host);
    const { route } = routeOptions.config;
    const { role: access = 'any', browser = false, streams } = route ?? {};
    const credentials = { header: raw.headers.authorization, address: raw.socket.remoteAddress };
    if (access !== 'open') request.caller = await authorize({ ...credentials, browser, access });
    if (route === undefined) throw unmatched(ROUTES, method, url);
    // All bodies are read in one way: fastify would refuse a type that it can't read.
    delete raw.headers['content-type'];
    // A report may be silent for longer, and an import watches over its own body.
    if (route.method !== 'GET' && streams !== true) raw.setTimeout(PATIENCE_MS);
  };
  const refuse = async (error: unknown, { raw }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await drain(raw);
    sendRefusal(reply, refusalOf(error, raw, parts));
  };
  const app: FastifyInstance = fastify({
    bodyLimit: BODY_BYTES,
    // A request id has up to 128 characters, of which some are written as three.
    routerOptions: { maxParamLength: 512 },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    // Node's own answer to bytes that are no HTTP has no body a client could read.
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(MALFORMED);
      else socket.destroy();
    },
    // A path that fastify can't read is none of ours.
    frameworkErrors: (_error, request, reply) =>
      void admit(request).catch((error: unknown) => refuse(error, request, reply)),
  });
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async ({ method, url, headers: { accept = '' } }, reply) => {
    if (method === 'GET' && url === '/' && wantsHtml(accept)) return reply.redirect(FIRST_PAGE);
    return undefined;
  });
  app.addHook('onRequest', admit);
  app.setErrorHandler(refuse);
  // Bodies are parsed by us: nothing may stand in one twice.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const route of ROUTES.filter(({ streams }) => streams !== true)) serve(app, route, parts, tokens);
  app.register((streaming, _options, done) => {
    streaming.removeAllContentTypeParsers();
    streaming.addContentTypeParser('*', (_request, _payload, next) => next(null));
    for (const route of ROUTES.filter(({ streams }) => streams === true)) serve(streaming, route, parts, tokens);
    done();
  });
  await app.ready();
  return app.server;
}

function serve(app: FastifyInstance, route: Route, parts: AdminParts, tokens: AdminTokens): void {
  app.route<{ Params: { id?: string; grant?: string } }>({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { route },
    handler: async ({ raw, url, method, params: { id = '', grant = '' }, body, caller }, reply) => {
      const query = readQuery(searchOf(url), route.query ?? {});
      const actor = readActor(raw, caller);
      const call = { parts, tokens, id, grant, query, actor, body: readBody(body), bytes: bytesOf(raw) };
      const answer = (await route.handle(call)) as Answer;
      reply.code((answer !== undefined && 'json' in answer ? answer.status : undefined) ?? statusOf(route));
      // What changed is in the keys' history; the log says that something was. The path may hold a key by mistake.
      if (route.method !== 'GET')
        parts.log.info(
          {
            method,
            route: route.path,
            status: reply.statusCode,
            actor,
            ...(isKeyId(id) || isCustomerId(id) ? { [nameOfId(route)]: id } : {}),
          },
          'admin change',
        );
      await send(reply, answer, parts.log);
      return reply;
    },
  });
}

function nameOfId({ path }: Route): 'key' | 'customer' | 'tokenId' {
  if (path.startsWith('/admin/v1/customers/')) return 'customer';
  return path.startsWith('/admin/v1/tokens/') ? 'tokenId' : 'key';
}

function searchOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
}

/** Reads what is left of a refused body: a client still sending would meet a reset where it should read the answer. */
async function drain(req: IncomingMessage): Promise<void> {
  const signal = AbortSignal.timeout(DRAIN_MS);
  await finished(req.resume(), { signal, cleanup: true }).catch(() => undefined);
}

function refusalOf(error: unknown, { errored }: IncomingMessage, { log }: AdminParts): AdminRefusal {
  if (error instanceof AdminRefusal) return error;
  if (error instanceof KeyRefused) {
    const [status, code] = REFUSALS[error.kind];
    return new AdminRefusal(status, code, error.message);
  }
  if (error instanceof ChangeUncertain) return new AdminRefusal(503, 'change_uncertain', error.message);
  if (error instanceof ArchiveUnavailable) return new AdminRefusal(503, 'archive_unavailable', error.message);
  if (error instanceof StoreUnavailable) {
    return new AdminRefusal(
      503,
      'store_unavailable',
      `The store can't do this now (${error.message.replace(/\.$/, '')}). After a change, check ` +
        'whether it was made before you try again.',
      { 'Retry-After': '1' },
    );
  }
  const { code, statusCode = 500, message } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new AdminRefusal(413, 'body_too_large', `The body is larger than ${BODY_BYTES} bytes.`);
  if (statusCode < 500) return new AdminRefusal(statusCode, 'bad_request', message ?? '');
  if (errored === null) log.error({ err: nameOf(error) }, 'an admin request failed');
  return new AdminRefusal(500, 'internal_error', 'Something went wrong here; the log has the details.');
}
