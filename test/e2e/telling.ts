import type { Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import type { Received } from '../servers/receiver.js';

export const SECRET = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
export const OLD_SECRET = `whsec_${Buffer.alloc(32, 'o').toString('base64')}`;
/** How many keys live at once. */
export const KEYS_EACH = 12;

export interface Setting {
  readonly url: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataFolder?: string;
  /** Of an attempt. */
  readonly timeout?: string;
}

/** A gateway that tells `url` of events, with the secret of now and the one before. */
export function startTelling(t: Test, { url, environment, dataFolder, timeout = '1s' }: Setting): Promise<Gateway> {
  return startGateway(t, {
    config: { events: { url, allow_local: true, timeout, retry: '100ms' } },
    environment: { PETGATE_EVENTS_SECRET: `${SECRET} ${OLD_SECRET}`, ...environment },
    ...(dataFolder === undefined ? {} : { dataFolder }),
  });
}

/** Makes keys and changes each; gives what was acknowledged, as `type key`. */
export async function live(gateway: Gateway): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  const ask = async (method: string, path: string, body: unknown): Promise<{ status: number; id: string }> => {
    const { status, body: answer } = await gateway.admin(method, path, body);
    return { status, id: (answer as { id: string } | null)?.id ?? '' };
  };
  const liveOne = async (name: string): Promise<void> => {
    const made = await ask('POST', '/admin/v1/keys', { plan: 'free', name });
    if (made.status === 201) acknowledged.push(`petgate.key.created ${made.id}`);
    const changed = await ask('PATCH', `/admin/v1/keys/${made.id}`, { plan: 'pro' });
    if (changed.status === 200) acknowledged.push(`petgate.key.changed ${made.id}`);
    const { status } = await ask('DELETE', `/admin/v1/keys/${made.id}`, undefined);
    if (status === 204) acknowledged.push(`petgate.key.revoked ${made.id}`);
  };
  // What the kill cuts off is no answer.
  await Promise.allSettled(Array.from({ length: KEYS_EACH }, (_, n) => liveOne(`key ${n}`)));
  return acknowledged;
}

/** What was told, as `type subject threshold`. */
export const factOf = ({ event }: Received): string => {
  const { threshold = '' } = event['data'] as { threshold?: number };
  return [event['type'], event['subject'], threshold].join(' ').trim();
};

/** Events that were not delivered yet. */
export async function waiting(gateway: Gateway): Promise<number> {
  return (await scrape(gateway.adminUrl)).value('petgate_events', { state: 'waiting' });
}
