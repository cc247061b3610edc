import type { IncomingMessage, Server } from 'node:http';
import { finished } from 'node:stream/promises';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { wantsHtml } from '../edge/fields.js';
import { createAuthorize, type Caller } from './access/authorize.js';
import { createHostCheck } from './access/host.js';
import { AdminTokens } from '../actions/access/tokens.js';
import { readActor } from './access/actor.js';
import { AdminRefusal } from '../actions/answer.js';
import { send, sendMounted, sendRefusal } from './send.js';
import { forClient } from './gone.js';
import { readBody } from '../actions/input/json.js';
import { bytesOf, PATIENCE_MS } from './body.js';
import type { Mount, MountOf } from './mount.js';
import { perform } from '../actions/table/perform.js';
import { BODY_BYTES, refusalOf } from './refusals.js';
import { unmatched, type AdminParts, type Action } from '../actions/action.js';
import { ROUTES } from './routes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The matching entry of `ROUTES`; absent if there is none. */
    readonly route?: Action;
    /** Whether it is mounted next to the admin API, and checks access itself. */
    readonly mounted?: boolean;
  }
  interface FastifyRequest {
    /** The holder of the token; null if none is required. */
    caller: Caller | null;
  }
}

/** How long the rest of a refused body is read. */
const DRAIN_MS = 10_000;

const MALFORMED_BODY = JSON.stringify({ code: 'bad_request', message: 'This is not valid HTTP/1.1.', status: 400 });
const MALFORMED =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ' +
  `${MALFORMED_BODY.length}\r\nConnection: close\r\n\r\n${MALFORMED_BODY}`;

/** No route has a fastify schema: the compilers would take longer to load than the rest of fastify. */
const noSchemas = (): never => {
  throw new Error('routes of the admin API have no fastify schema');
};

/**
 * Creates the operators' server: metrics, health and the admin API. It does not listen yet.
 * @param mountOf creates what is also served here, for browsers
 */
export async function createAdmin(parts: AdminParts, mountOf?: MountOf): Promise<Server> {
  const tokens = new AdminTokens(parts.engine.tokens, () => parts.registry.nowMs());
  const elapsedMs = parts.elapsedMs ?? (() => performance.now());
  const authorize = createAuthorize(parts.token, tokens, elapsedMs, (address) => parts.audit.refused(address));
  const checkHost = createHostCheck(parts.hosts ?? []);
  const mount = mountOf?.({ parts, tokens, authorize });
  const admit = async (request: FastifyRequest): Promise<void> => {
    const { raw, method, url, routeOptions } = request;
    checkHost(raw.headers.host);
    if (mount !== undefined && isBelow(mount, url)) {
      if (raw.method !== 'GET') raw.setTimeout(PATIENCE_MS);
      if (routeOptions.config.mounted === true) return;
      throw new AdminRefusal(404, 'not_found', 'There is nothing at this path.');
    }
    const { route } = routeOptions.config;
    const { role: access = 'any', streams } = route ?? {};
    const credentials = { header: raw.headers.authorization, address: raw.socket.remoteAddress };
    if (access !== 'open') request.caller = await authorize({ ...credentials, access });
    if (route === undefined) throw unmatched(ROUTES, method, url);
    // All bodies are read the same way: fastify would refuse types it does not know.
    delete raw.headers['content-type'];
    // Reports (GET) may be silent for longer, and streamed bodies have their own deadline.
    if (route.method !== 'GET' && streams !== true) raw.setTimeout(PATIENCE_MS);
  };
  const refuse = async (error: unknown, { raw }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await drain(raw);
    const refusal = refusalOf(error, raw, parts.log);
    if (mount !== undefined && isBelow(mount, raw.url))
      await sendMounted(reply, await mount.refuse(raw, refusal), parts.log);
    else sendRefusal(reply, refusal);
  };
  const app: FastifyInstance = fastify({
    bodyLimit: BODY_BYTES,
    // A request ID has up to 128 characters, some of them percent-encoded as three.
    routerOptions: { maxParamLength: 512 },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    // Node's own response to invalid HTTP has no body.
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(MALFORMED);
      else socket.destroy();
    },
    // A path that fastify can't parse matches no route.
    frameworkErrors: (_error, request, reply) =>
      void admit(request).catch((error: unknown) => refuse(error, request, reply)),
  });
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async ({ method, url, headers: { accept = '' } }, reply) => {
    if (mount !== undefined && method === 'GET' && url === '/' && wantsHtml(accept))
      return reply.redirect(`${mount.path}/`);
    return undefined;
  });
  app.addHook('onRequest', admit);
  app.setErrorHandler(refuse);
  // We parse bodies ourselves, because a repeated field must be refused.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const route of ROUTES.filter(({ streams }) => streams !== true)) serve(app, route, parts, tokens);
  if (mount !== undefined) serveMount(app, mount, parts);
  app.register((streaming, _options, done) => {
    streaming.removeAllContentTypeParsers();
    streaming.addContentTypeParser('*', (_request, _payload, next) => next(null));
    for (const route of ROUTES.filter(({ streams }) => streams === true)) serve(streaming, route, parts, tokens);
    done();
  });
  await app.ready();
  return app.server;
}

function serve(app: FastifyInstance, route: Action, parts: AdminParts, tokens: AdminTokens): void {
  app.route<{ Params: { id?: string; grant?: string } }>({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { route },
    handler: async ({ raw, url, params: { id = '', grant = '' }, body, caller }, reply) => {
      const search = searchOf(url);
      const actor = readActor(raw, caller);
      const own = forClient(parts, reply.raw);
      const call = { parts: own, tokens, id, grant, search, actor, body: readBody(body), bytes: bytesOf(raw) };
      const { answer, status } = await perform(route, call);
      reply.code(status);
      await send(reply, answer, parts.log);
      return reply;
    },
  });
}

function serveMount(app: FastifyInstance, mount: Mount, { log }: AdminParts): void {
  for (const url of [mount.path, `${mount.path}/*`])
    app.all(url, { config: { mounted: true } }, async ({ raw, body }, reply) => {
      // Handling the body may take longer, for example a rehearsal.
      raw.setTimeout(0);
      const bytes: Buffer = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      await sendMounted(reply, await mount.handle(raw, bytes, reply.raw), log);
      return reply;
    });
}

function isBelow({ path }: Mount, url = ''): boolean {
  return url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`);
}

function searchOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
}

/** Reads the rest of a refused body: a client still sending would get a reset instead of the response. */
async function drain(req: IncomingMessage): Promise<void> {
  const signal = AbortSignal.timeout(DRAIN_MS);
  await finished(req.resume(), { signal, cleanup: true }).catch(() => undefined);
}
