import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { scrape, type Exposition } from '../../servers/exposition.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { exchangeRaw } from '../../servers/raw.js';
import { startUpstream } from '../../servers/upstream.js';

interface Pair {
  readonly gateway: Gateway;
  /** So many requests, a connection each, so that both workers get their share; gives how many were answered 200. */
  readonly ask: (count: number) => Promise<number>;
  readonly admitted: () => Promise<number>;
}

/** A gateway of two workers. */
export async function startPair(t: Test): Promise<Pair> {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url, PETGATE_WORKERS: '2' } });
  const { key } = await gateway.createKey({ plan: 'business' });
  const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
  return {
    gateway,
    ask: async (count) => {
      const answers = await Promise.all(
        Array.from({ length: count }, () => exchangeRaw(gateway.port, request, 1, 3000).catch(() => [])),
      );
      return answers.flat().filter(({ status }) => status === 200).length;
    },
    admitted: async () => (await scrape(gateway.adminUrl)).value('petgate_admitted_total', { plan: 'business' }),
  };
}

/** A scrape that both workers answered: a busy machine's may be late, and are then left out. */
export async function wholeScrape({ adminUrl }: Gateway): Promise<Exposition> {
  for (;;) {
    const metrics = await scrape(adminUrl);
    if (metrics.value('petgate_workers', { state: 'answering' }) === 2) return metrics;
  }
}

/** Process ids of the workers that served something, from the access log. */
export function workersOf({ program }: Gateway): readonly number[] {
  return [
    ...new Set(
      program
        .lines()
        .filter(({ msg }) => msg === 'exchange')
        .map(({ pid }) => Number(pid)),
    ),
  ];
}

interface Limited {
  readonly gateway: Gateway;
  /** A file of its settings. */
  readonly file: (name: string) => string;
  /** Replaces the plans: a minute of `free` allows so much. */
  readonly plan: (minute: number) => void;
  /** What so many new connections are notified of that limit, each different answer once. */
  readonly limits: (connections: number) => Promise<readonly string[]>;
}

/** A gateway of two workers whose plans can be replaced. */
export async function startLimited(t: Test): Promise<Limited> {
  const upstream = await startUpstream(t);
  const plansOf = (minute: number): Readonly<Record<string, unknown>> => ({
    free: { limits: { minute, day: 1_000_000 }, ban: NO_BAN },
    anonymous: { limits: { minute: 1000, day: 1_000_000 }, ban: NO_BAN },
  });
  const gateway = await startGateway(t, {
    plans: plansOf(1000),
    environment: { PETS_URL: upstream.url, PETGATE_WORKERS: '2' },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  const file = (name: string): string => join(gateway.dataFolder, 'config', name);
  const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
  return {
    gateway,
    file,
    plan: (minute) => replaceFile(file('plans.yaml'), JSON.stringify(plansOf(minute))),
    limits: async (connections) => {
      // One whom a hanging worker got is told nothing.
      const answers = await Promise.all(
        Array.from({ length: connections }, () => exchangeRaw(gateway.port, request, 1, 3000).catch(() => [])),
      );
      // On a busy machine the store may be late: a 503 says nothing about limits.
      const decided = answers.flat().filter(({ status }) => status !== 503);
      return [...new Set(decided.map(({ headers }) => headers.get('x-ratelimit-limit') ?? 'none'))];
    },
  };
}

/** In one step, as careful editors do. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** How often it told that new settings are in force. */
export const reloads = ({ program }: Gateway): number =>
  program.lines().filter(({ msg }) => msg === 'settings reloaded').length;
