import type { Answer } from './answer.js';
import type { Call, Route } from './route.js';

/** What orchestrators and Prometheus ask, without the token: the listener is on loopback by default. */
export const PROBE_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/metrics', open: true, handle: metrics },
  { method: 'GET', path: '/livez', open: true, handle: live },
  { method: 'GET', path: '/readyz', open: true, handle: ready },
];

async function metrics({ parts }: Call): Promise<Answer> {
  return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: await parts.metrics() };
}

function live(): Answer {
  return { status: 200, json: { alive: true } };
}

function ready({ parts }: Call): Answer {
  const { ready: isReady, parts: details } = parts.ready();
  return { status: isReady ? 200 : 503, json: { ready: isReady, parts: details } };
}
