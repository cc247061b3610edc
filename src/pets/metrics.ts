import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, Histogram, Registry } from 'prom-client';
import { gaugeOf } from '../shared/metrics/gauge.js';
import { addProcessMetrics } from '../shared/metrics/process.js';
import type { PetStore } from './store/port.js';

/** Operation names of the contract. All other requests count as `health` or `unmatched`. */
const OPERATIONS: ReadonlyMap<string, string> = new Map([
  ['GET /v1/pets', 'listPets'],
  ['HEAD /v1/pets', 'listPets'],
  ['POST /v1/pets', 'createPet'],
  ['GET /v1/pets/:petId', 'getPet'],
  ['HEAD /v1/pets/:petId', 'getPet'],
]);
const HEALTH = /^\/(?:livez|readyz|metrics)$/;
const NAMES = [...new Set(OPERATIONS.values()), 'health', 'unmatched'];
/** Seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Counts every response of `app`, and serves the metrics at `/metrics` in the Prometheus text format. */
export function addMetrics(app: FastifyInstance, store: PetStore): void {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'petgate_pets_requests_total',
    help: 'Requests answered, by operation and status; those that could not be read as HTTP are not among them.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'petgate_pets_request_duration_seconds',
    help: 'From reading a request to writing its response.',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers,
  });
  for (const operation of NAMES) duration.zero({ operation });
  gaugeOf(registry, 'petgate_pets_store_up', '1 while the catalogue can be read, asked at each scrape; else 0.', () =>
    store.check().then(
      () => 1,
      () => 0,
    ),
  );
  addProcessMetrics(registry, 'petgate_pets');

  app.addHook('onResponse', (request, reply, next) => {
    const operation = operationOf(request);
    requests.inc({ operation, status: reply.statusCode });
    duration.observe({ operation }, reply.elapsedTime / 1000);
    next();
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await registry.metrics()),
  );
}

function operationOf({ method, routeOptions: { url = '' } }: FastifyRequest): string {
  return OPERATIONS.get(`${method} ${url}`) ?? (HEALTH.test(url) ? 'health' : 'unmatched');
}
