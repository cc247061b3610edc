import { StoreUnavailable } from '../../admission/port.js';
import { isoOrNull } from '../../accounts/edits.js';
import type { AdmissionEngine, Running, SeenGateway } from '../../store/port.js';
import { GatewayList } from '../schemas.js';
import { action, type Action } from '../action.js';

export const GATEWAY_ACTIONS: readonly Action[] = [
  action('GET /admin/v1/gateways', 'read', 'List the gateways on the store, and how what they run by differs', {
    commands: {
      usage: 'gateways list',
      example: '',
      prints: {
        list: ({ self, others }) => [
          { gateway: 'this one', ...(self as object) },
          ...((others ?? []) as readonly Readonly<Record<string, unknown>>[]),
        ],
        columns: ['gateway', 'host', 'seen', 'version', 'settings', 'plans', 'contract', 'differs'],
        none: '',
        note: ({ others }) => (others === null ? 'The store does not say which others there are.' : null),
      },
      help: 'Settings, plans and contract are short hashes, without what may differ between machines.',
    },
    gives: GatewayList,
    handle: async ({ parts: { engine, running } }) => {
      const self = running();
      const others = await othersOn(engine);
      return { json: { self, others: others?.map((other) => viewOf(other, self)) ?? null } };
    },
  }),
];

/** Returns the other gateways seen recently; null if the store does not know. */
async function othersOn({ failover, name }: AdmissionEngine): Promise<readonly SeenGateway[] | null> {
  if (name === 'embedded') return [];
  return failover === undefined ? null : orNull(failover.others());
}

/** Resolves with null while the store is unavailable, so that what else is known can still be shown. */
export function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  });
}

/** Returns the other gateways, for answers that each gateway only has for itself. */
export async function othersNow(engine: AdmissionEngine) {
  const others = await othersOn(engine);
  return others?.map(({ gateway, host, seenMs }) => ({ gateway, host, seen: isoOrNull(seenMs) })) ?? null;
}

/** Versions that do not report what they run have no known differences. */
function viewOf({ gateway, host, seenMs, running }: SeenGateway, self: Running): object {
  const named = Object.entries(self) as readonly (readonly [keyof Running, string])[];
  return {
    ...{ gateway, host, seen: isoOrNull(seenMs) },
    ...(running ?? Object.fromEntries(named.map(([name]) => [name, null]))),
    differs: named.flatMap(([name, own]) => (running === null || running[name] === own ? [] : [name])),
  };
}
