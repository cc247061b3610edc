import { createRequire } from 'node:module';
import type * as Undici from 'undici';
import { repeat } from '../../shared/repeat.js';
import type { HealthSettings } from '../config/settings.js';
import { dialOptions, type Address } from './address.js';

/** An address counts as down after so many failed checks in a row: a single one may be a coincidence. */
const FAILURES_IN_A_ROW = 2;

/**
 * Asks an address at intervals whether it wants requests, over a connection of its own: a pool that is full says
 * nothing about the service. Gives what ends the asking.
 */
export function watchAddress(
  address: Address,
  { path, everyMs, deadlineMs }: HealthSettings,
  connectMs: number,
): () => void {
  const { origin, ...dial } = dialOptions(address.url, connectMs);
  // Loaded here: where no health is asked for, a gateway starts a tenth quicker without it.
  const { Client } = createRequire(import.meta.url)('undici') as typeof Undici;
  const client = new Client(origin, {
    ...dial,
    pipelining: 1,
    keepAliveTimeout: everyMs,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let failures = 0;

  const ask = async (): Promise<void> => {
    failures = (await isHealthy(client, path, deadlineMs)) ? 0 : failures + 1;
    const healthy = failures < FAILURES_IN_A_ROW;
    if (healthy && !address.healthy) address.breaker.probeNow();
    address.healthy = healthy;
  };
  const stop = repeat(everyMs, ask, () => undefined);
  return () => {
    void stop();
    void client.destroy();
  };
}

async function isHealthy(client: Undici.Client, path: string, deadlineMs: number): Promise<boolean> {
  try {
    const { statusCode, body } = await client.request({ method: 'GET', path, signal: AbortSignal.timeout(deadlineMs) });
    await body.dump();
    return statusCode >= 200 && statusCode < 300;
  } catch {
    return false;
  }
}
