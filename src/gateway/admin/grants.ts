import type { Grant } from '../store/records/grant.js';
import { inForce } from '../store/records/grant.js';
import type { Access } from './access/roles.js';
import type { Answer } from './answer.js';
import type { Call, Route } from './route.js';

/** Whose grants: what the registry of keys and that of customers have in common. */
interface Granting {
  get(id: string): Promise<{ readonly grants?: readonly Grant[] }>;
  grant(id: string, body: Call['body'], actor: string): Promise<{ readonly grants?: readonly Grant[] }>;
  withdraw(id: string, grant: string, actor: string): Promise<void>;
}

/** More of one window for a while, of a key or a customer. */
export const GRANT_ROUTES: readonly Route[] = [
  ...routesOf('keys', 'a key', 'read', ({ registry }) => ({
    // Those of its customer hold for a key.
    get: async (id) => registry.asItHolds(await registry.get(id)),
    grant: (id, body, actor) => registry.grant(id, body, actor),
    withdraw: (id, grant, actor) => registry.withdraw(id, grant, actor),
  })),
  ...routesOf('customers', 'a customer', 'any', ({ registry }) => registry.customers),
];

function routesOf(
  collection: string,
  whose: string,
  reader: Access,
  grantingOf: (parts: Call['parts']) => Granting,
): readonly Route[] {
  const path = `/admin/v1/${collection}/{id}/grants`;
  return [
    {
      method: 'GET',
      path,
      summary: `Grants of ${whose} that are in force`,
      role: reader,
      gives: [200, 'GrantList'],
      handle: async ({ parts, id }): Promise<Answer> => {
        const { grants } = await grantingOf(parts).get(id);
        return { json: { grants: grantsView(grants, await parts.registry.nowMs()) } };
      },
    },
    {
      method: 'POST',
      path,
      summary: `Grants ${whose} more of one window for a while, on top of its limit`,
      role: 'keys',
      takes: 'NewGrant',
      gives: [201, 'Grant'],
      handle: async ({ parts, id, body, actor }): Promise<Answer> => {
        const { grants = [] } = await grantingOf(parts).grant(id, body, actor);
        return { json: viewOf(grants.at(-1)!) };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{grant}`,
      summary: `Ends a grant of ${whose} now`,
      role: 'keys',
      gives: [204],
      handle: async ({ parts, id, grant, actor }): Promise<undefined> => {
        await grantingOf(parts).withdraw(id, grant, actor);
      },
    },
  ];
}

/** Those in force. */
export function grantsView(grants: readonly Grant[] = [], nowMs: number): readonly object[] {
  return inForce(grants, nowMs).map(viewOf);
}

function viewOf({ id, window, units, untilMs, note, actor, atMs }: Grant): object {
  const [until, at] = [untilMs, atMs].map((ms) => new Date(ms).toISOString());
  return { id, window, units, until, note, by: actor, at };
}
