import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Log } from '../shared/log.js';
import { addMetrics } from './metrics.js';
import { Refusal, rawAnswer } from './refusal.js';
import { addPetRoutes, refuse, unmatched } from './routes.js';
import { StoreUnavailable, type PetStore } from './store/port.js';

interface PetsParts {
  readonly store: PetStore;
  readonly internalToken: string;
  readonly log: Log;
  /** True once the service was asked to stop. */
  readonly isDraining: () => boolean;
}

const BODY_BYTES = 1_048_576;
/** Longer than the gateway's pool keeps idle connections, so that pets never closes one that was just taken. */
const KEEP_ALIVE_MS = 75_000;
const HEALTH = ['/livez', '/readyz', '/metrics'];

/** Returns the complete service, not yet listening. */
export function buildPetsApp(parts: PetsParts): FastifyInstance {
  const isCaller = tokenCheck(parts.internalToken);
  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: BODY_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: 30_000,
    // Requests on connections that are open when the stop comes are still served.
    return503OnClosing: false,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
    // As long as any header can be, so that a long petId gets an Error that says what is wrong.
    routerOptions: { maxParamLength: 65_536 },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error.code, socket),
    frameworkErrors: (_error, request, reply) => {
      refuse(reply, isCaller(request) ? new Refusal('malformed_request', invalidPath(request.url)) : unauthorized());
    },
  });

  // Pets parses the body itself: fastify's JSON parser would round large integers.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply, next) => {
    if (HEALTH.includes(request.routeOptions.url ?? '') || isCaller(request)) next();
    else refuse(reply, unauthorized());
  });
  // Checked when the response is sent: the stop may come after the request.
  app.addHook('onSend', (_request, reply, _payload, next) => {
    if (parts.isDraining()) reply.header('connection', 'close');
    next();
  });
  app.setNotFoundHandler((request, reply) => refuse(reply, unmatched(request)));
  app.setErrorHandler((error, request, reply) => refuse(reply, refusalOf(error, request, parts.log)));

  addMetrics(app, parts.store);
  addHealthRoutes(app, parts);
  addPetRoutes(app, parts.store);
  app.server.on('checkExpectation', (_request, response) => {
    const refusal = new Refusal('expectation_failed', 'Leave the Expect header out.');
    response
      .writeHead(refusal.status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
      .end(refusal.body);
  });
  app.server.on('connect', (_request, socket: Socket) => answerBrokenRequest('CONNECT', socket));
  return app;
}

function addHealthRoutes(app: FastifyInstance, { store, isDraining }: PetsParts): void {
  app.get('/livez', (_request, reply) => reply.send({ live: true }));
  app.get('/readyz', async (_request, reply) => {
    const answer = await store.check().then(
      () => 'ok' as const,
      () => 'unavailable' as const,
    );
    const draining = isDraining();
    const ready = answer === 'ok' && !draining;
    return reply.code(ready ? 200 : 503).send({ ready, store: answer, draining });
  });
}

/** Compares digests, so that the time taken reveals neither the token's length nor its first wrong character. */
function tokenCheck(internalToken: string): (request: FastifyRequest) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(internalToken);
  return (request) => {
    const sent = /^Bearer +([^ ].*)$/i.exec(request.headers.authorization ?? '')?.[1];
    return sent !== undefined && timingSafeEqual(digest(sent), expected);
  };
}

/** Explains why a path cannot be decoded. */
function invalidPath(url: string): string {
  const [path = ''] = url.split('?', 1);
  if (/%(?![0-9a-f]{2})/i.test(path)) return 'The path has a broken percent escape. Send % followed by two hex digits.';
  return (
    'The percent escapes of the path are not UTF-8. Encode the bytes of the text in UTF-8, as encodeURIComponent ' +
    'does.'
  );
}

function unauthorized(): Refusal {
  return new Refusal(
    'unauthorized',
    'This service accepts requests only from the gateway. Send the internal token as Authorization: Bearer.',
    { 'www-authenticate': 'Bearer realm="pets"' },
  );
}

/** Converts an error of fastify or the store to a refusal. */
function refusalOf(error: unknown, request: FastifyRequest, log: Log): Refusal {
  if (error instanceof StoreUnavailable) {
    log.warn({ err: error, requestId: request.headers['x-request-id'] }, 'store unavailable');
    return new Refusal('store_unavailable', 'The catalogue cannot be reached just now. Try again in a moment.', {
      'retry-after': '1',
    });
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new Refusal('body_too_large', `The body is over ${BODY_BYTES} bytes. Send a smaller one.`);
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return new Refusal('invalid_body', 'The body is not as long as Content-Length says.');
  log.error({ err: error, requestId: request.headers['x-request-id'] }, 'request failed');
  return new Refusal('internal_error', 'The service failed. Try again; if it continues, report it to its operators.');
}

/** Complete responses to requests that Node's HTTP parser refuses, by its error code. */
const BROKEN: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', rawAnswer(new Refusal('headers_too_large', 'The request line and headers are too long.'))],
  ['ERR_HTTP_REQUEST_TIMEOUT', rawAnswer(new Refusal('request_timeout', 'The request took too long to arrive.'))],
]);
const UNREADABLE = rawAnswer(
  new Refusal('malformed_request', 'This is not a request the service can read. Send HTTP/1.1.'),
);

/** Sends a refusal and closes the connection; if a response has already begun, only closes it. */
function answerBrokenRequest(code: string | undefined, socket: Socket & { _httpMessage?: unknown }): void {
  if (!socket.writable || socket._httpMessage) socket.destroy();
  else socket.end(BROKEN.get(code) ?? UNREADABLE);
}
