/** express + express-rate-limit (twice: minute and day) + rate-limit-redis + http-proxy-middleware. */
import { Agent, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { RedisStore } from 'rate-limit-redis';
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

const app = express();
app.disable('x-powered-by');
app.use(async (request, response, next) => {
  const key = await keyOf(request.headers.authorization);
  if (key === undefined) return response.status(401).set('www-authenticate', 'Bearer realm="bench"').json(UNAUTHORIZED);
  request.key = key;
  Object.assign(request.headers, upstreamFields(key));
  next();
});
const limits = [
  ['day', ONE_DAY_MS],
  ['minute', ONE_MINUTE_MS],
].map(([window, windowMs]) =>
  rateLimit({
    windowMs,
    limit: (request) => request.key[window],
    keyGenerator: (request) => request.key.id,
    standardHeaders: 'draft-8',
    legacyHeaders: true,
    identifier: window,
    message: LIMITED,
    validate: false,
    store: new RedisStore({ prefix: `bench:express:${window}:`, sendCommand: (...args) => redis.call(...args) }),
  }),
);
app.use(...limits);
// Without an agent that keeps connections it would make a new one for each request.
app.use(createProxyMiddleware({ target: upstreamUrl, agent: new Agent({ keepAlive: true, maxFreeSockets: 1024 }) }));

const server = tls === undefined ? createServer(app) : createTlsServer(tls, app);
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', 4096, () => serving(server));
