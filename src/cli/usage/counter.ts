import { text } from 'node:stream/consumers';
import type { AdminClient } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import { nameOf } from './access-log.js';

/** `petgate_admitted_total` of one or more gateways, by `nameOf` plan and operation. */
export interface Counter {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
  /** When the last of these gateways to start began to count, unix ms; null if one does not report it. */
  readonly sinceMs: number | null;
}

const SAMPLE = /^petgate_admitted_total\{(.*)\} (\S+)/;
const LABEL = /,?(\w+)="((?:[^"\\]|\\.)*)"/gy;
const START = /^petgate_start_time_seconds(?:\{[^}]*\})? (\S+)/;

/** Sums the counters at `urls`, or if there are none, reads that of the client's gateway. Throws CommandError. */
export async function readCounter(client: AdminClient, urls: readonly string[]): Promise<Counter> {
  const pages =
    urls.length === 0 ? [await text(await client.open('/metrics'))] : await Promise.all(urls.map(fetchText));
  const counts = new Map<string, number>();
  let total = 0;
  let sinceMs: number | null = 0;
  for (const page of pages) {
    let start: string | undefined;
    for (const line of page.split('\n')) {
      start ??= START.exec(line)?.[1];
      const [, labels, value] = SAMPLE.exec(line) ?? [];
      if (labels === undefined) continue;
      const { plan = '', operation = '' } = labelsIn(labels);
      const name = nameOf(plan, operation);
      counts.set(name, (counts.get(name) ?? 0) + Number(value));
      total += Number(value);
    }
    sinceMs = start === undefined || sinceMs === null ? null : Math.max(sinceMs, Number(start) * 1000);
  }
  return { counts, total, sinceMs };
}

function labelsIn(labels: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...labels.matchAll(LABEL)].map(([, name = '', value = '']) => [name, value.replace(/\\(.)/g, '$1')]),
  );
}

async function fetchText(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    if (response.ok) return await response.text();
    throw new Error(`status ${response.status}`);
  } catch (error) {
    throw new CommandError(
      `The metrics at ${url} can't be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}
