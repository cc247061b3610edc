import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Those that take longest, the longest first: one that begins last would keep the others waiting for it alone. */
export const LONG = [
  'e2e/late-counts-kill',
  'attacks/testssl',
  'gateway/workers/primary',
  'e2e/certificate',
  'conformance/sentinel',
  'e2e/failover-kill',
  'e2e/customers',
  'e2e/late-counts',
  'e2e/chaos/sentinel',
  'attacks/http2-slow',
  'pets/main',
  'gateway/edge/websocket/tunnel',
  'gateway/usage/ledger',
  'gateway/edge/proxy-protocol/listener',
  'e2e/stalls',
  'e2e/exactness',
  'faults/resharding',
  'faults/credits',
];

/** The built test files: the long ones first, then by name. */
export function testFiles() {
  const names = readdirSync('dist/test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .sort();
  const long = LONG.map((name) => `${name}.test.js`).filter((name) => names.includes(name));
  return [...new Set([...long, ...names])].map((name) => join('dist/test', name));
}

/** Those of them that start no process (test/rules/unit.ts). */
export async function unitTestFiles() {
  // Only now: it is there once it was built.
  const { unitTests } = await import('../../dist/test/rules/unit.js');
  return unitTests().map((path) => join('dist', path.replace(/\.ts$/, '.js')));
}
