/** fastify + @fastify/rate-limit (twice: minute and day) + @fastify/http-proxy. */
import httpProxy from '@fastify/http-proxy';
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import {
  keyOf,
  LIMITED,
  ONE_DAY_MS,
  ONE_MINUTE_MS,
  redis,
  serving,
  tls,
  UNAUTHORIZED,
  upstreamFields,
  upstreamUrl,
} from './policy.mjs';

const app = fastify({
  keepAliveTimeout: 600_000,
  ...(tls === undefined ? {} : { http2: true, https: { ...tls, allowHTTP1: true } }),
});
app.decorateRequest('key', null);
app.addHook('onRequest', async (request, reply) => {
  const key = await keyOf(request.headers.authorization);
  if (key === undefined) return reply.code(401).header('www-authenticate', 'Bearer realm="bench"').send(UNAUTHORIZED);
  request.key = key;
});
const limited = () => Object.assign(new Error(LIMITED.message), { statusCode: 429 });
app.setErrorHandler((error, _request, reply) =>
  error.statusCode === 429
    ? reply.code(429).send(LIMITED)
    : reply.code(502).send({ code: 'bad_gateway', message: error.message, status: 502 }),
);
for (const [window, timeWindow] of [
  ['day', ONE_DAY_MS],
  ['minute', ONE_MINUTE_MS],
]) {
  await app.register(rateLimit, {
    redis,
    nameSpace: `bench:fastify:${window}:`,
    timeWindow,
    hook: 'preHandler',
    max: (request) => request.key[window],
    keyGenerator: (request) => request.key.id,
    errorResponseBuilder: limited,
  });
}
await app.register(httpProxy, {
  upstream: upstreamUrl,
  undici: { connections: 1024, pipelining: 1 },
  replyOptions: { rewriteRequestHeaders: (request, headers) => ({ ...headers, ...upstreamFields(request.key) }) },
});
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
serving(app.server);
