import { repeat } from '../../../shared/turns/repeat.js';
import type { HealthSettings } from '../../config/schema/upstream.js';
import { Pool } from '../http1/pool.js';
import type { Address } from './address.js';

/** An address counts as down after this many failed checks in a row: a single one may be a coincidence. */
const FAILURES_IN_A_ROW = 2;
const IDLE_MS = 4000;

/**
 * Checks an address at intervals, over a connection of its own: a full pool says nothing about the service. Returns a
 * function that ends the checks.
 */
export function watchAddress(
  address: Address,
  { path, every, deadline }: HealthSettings,
  connectMs: number,
): () => void {
  const { peer, host } = address;
  const pool = new Pool({ ...peer, host, prefix: '', connections: 1, connectMs, idleMs: IDLE_MS });
  let failures = 0;

  const ask = async (): Promise<void> => {
    failures = (await isHealthy(pool, path, deadline)) ? 0 : failures + 1;
    // From the first request on, requests tell.
    address.reached ??= failures === 0;
    const healthy = failures < FAILURES_IN_A_ROW;
    if (healthy && !address.healthy) address.breaker.probeNow();
    address.healthy = healthy;
  };
  const stop = repeat(every, ask, () => undefined);
  return () => {
    void stop();
    pool.destroy();
  };
}

function isHealthy(pool: Pool, path: string, deadlineMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let status = 0;
    const end = (healthy: boolean): void => {
      clearTimeout(deadline);
      resolve(healthy);
    };
    const controller = pool.dispatch(
      { method: 'GET', target: path, headers: [], body: null, host: null },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, code) => void (status = code),
        onResponseData: (from, chunk) => from.release(chunk),
        onResponseEnd: () => end(status >= 200 && status < 300),
        onResponseError: () => end(false),
        onFault: () => end(false),
      },
    );
    const deadline = setTimeout(() => {
      controller.abort();
      end(false);
    }, deadlineMs);
  });
}
