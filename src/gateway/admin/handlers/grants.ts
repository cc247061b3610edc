import type { Grant as StoredGrant } from '../../store/records/grant.js';
import { inForce } from '../../store/records/grant.js';
import { Grant, GrantList, NewGrant } from '../openapi/schemas.js';
import { handler } from '../route.js';
import type { AdminParts, Call } from '../route.js';

type Granted = Promise<{ readonly grants?: readonly StoredGrant[] }>;

/** Whose grants: what the registry of keys and that of customers have in common. */
interface Granting {
  get(id: string): Granted;
  grant(id: string, body: Call['body'], actor: string): Granted;
  withdraw(id: string, grant: string, actor: string): Promise<void>;
}

/** Those of its customer hold for a key. */
export const grantsOfKeys = grantsOf(({ registry }) => ({
  get: async (id) => registry.asItHolds(await registry.get(id)),
  grant: (id, body, actor) => registry.grant(id, body, actor),
  withdraw: (id, grant, actor) => registry.withdraw(id, grant, actor),
}));
export const grantsOfCustomers = grantsOf(({ registry }) => registry.customers);

function grantsOf(grantingOf: (parts: AdminParts) => Granting) {
  return {
    list: handler({
      gives: GrantList,
      handle: async ({ parts, id }) => {
        const { grants } = await grantingOf(parts).get(id);
        return { json: { grants: grantsView(grants, await parts.registry.nowMs()) } };
      },
    }),
    create: handler({
      takes: NewGrant,
      status: 201,
      gives: Grant,
      handle: async ({ parts, id, body, actor }) => {
        const { grants = [] } = await grantingOf(parts).grant(id, body, actor);
        return { json: viewOf(grants.at(-1)!) };
      },
    }),
    end: handler({
      handle: async ({ parts, id, grant, actor }) => {
        await grantingOf(parts).withdraw(id, grant, actor);
      },
    }),
  };
}

/** Those in force. */
export function grantsView(grants: readonly StoredGrant[] = [], nowMs: number): readonly object[] {
  return inForce(grants, nowMs).map(viewOf);
}

function viewOf({ id, window, units, untilMs, note, actor, atMs }: StoredGrant): object {
  const [until, at] = [untilMs, atMs].map((ms) => new Date(ms).toISOString());
  return { id, window, units, until, note, by: actor, at };
}
