import type { Answer } from './answer.js';
import type { Call, Route } from './route.js';

/** What orchestrators and Prometheus ask, without the token: the listener is on loopback by default. */
export const PROBE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/metrics',
    summary: "Metrics in Prometheus' text format",
    role: 'open',
    gives: [200, ['text/plain']],
    handle: metrics,
  },
  {
    method: 'GET',
    path: '/livez',
    summary: 'Whether the process runs',
    role: 'open',
    gives: [200, 'Liveness'],
    handle: live,
  },
  {
    method: 'GET',
    path: '/readyz',
    summary: 'Whether it can serve, part by part; 503 when it cannot',
    role: 'open',
    gives: [200, 'Readiness'],
    handle: ready,
  },
];

async function metrics({ parts }: Call): Promise<Answer> {
  return { type: 'text/plain; version=0.0.4; charset=utf-8', text: await parts.metrics() };
}

function live(): Answer {
  return { json: { alive: true } };
}

function ready({ parts }: Call): Answer {
  const { ready: isReady, parts: details } = parts.ready();
  return { json: { ready: isReady, parts: details }, ...(isReady ? {} : { status: 503 }) };
}
