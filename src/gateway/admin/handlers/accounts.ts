import type { z } from 'zod';
import type { Body } from '../../accounts/fields.js';
import type { Account, RecordRegistry } from '../../accounts/record-registry.js';
import type { Access } from '../access/roles.js';
import type { Answer } from '../answer.js';
import { Grant, GrantList, History, NewGrant } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';
import { entryView, grantsView, grantView } from './views.js';

interface Registry<R extends Account> extends Pick<
  RecordRegistry<R, object>,
  'get' | 'asItHolds' | 'history' | 'grant' | 'withdraw'
> {
  change(id: string, body: Body, actor: string): Promise<R>;
}

/** In what keys and customers differ. */
interface Kind<R extends Account> {
  readonly name: 'key' | 'customer';
  readonly path: string;
  /** Who may look at one. */
  readonly reader: Access;
  readonly registry: (parts: AdminParts) => Registry<R>;
  readonly takes: z.ZodType;
  readonly gives: z.ZodType;
  readonly view: (parts: AdminParts, record: R) => Promise<object>;
  readonly end: (parts: AdminParts, id: string, actor: string) => Promise<void>;
  /** All that is stored about one, as JSON. */
  readonly exported: (parts: AdminParts, record: R) => AsyncGenerator<string, void>;
  readonly erase: (parts: AdminParts, id: string, actor: string) => Promise<void>;
}

/** One key or customer, with plan, limits and grants as they hold. */
export function accountRoutes<R extends Account>(kind: Kind<R>): readonly Route[] {
  const { name, path, reader, registry, takes, gives, view } = kind;
  const shown = async (parts: AdminParts, record: R): Promise<Answer> => ({
    json: await view(parts, await registry(parts).asItHolds(record)),
  });
  return [
    route(`GET ${path}`, reader, `One ${name}`, {
      gives,
      handle: async ({ parts, id }) => shown(parts, await registry(parts).get(id)),
    }),
    route(`PATCH ${path}`, 'keys', `Changes a ${name}; holds on the next request`, {
      takes,
      gives,
      handle: async ({ parts, id, body, actor }) => shown(parts, await registry(parts).change(id, body, actor)),
    }),
    route(`DELETE ${path}`, 'keys', `Ends a ${name} permanently`, {
      handle: ({ parts, id, actor }) => kind.end(parts, id, actor),
    }),
    route(`GET ${path}/history`, reader, 'Who changed what, from what, to what, when', {
      gives: History,
      handle: async ({ parts, id }) => ({ json: { history: (await registry(parts).history(id)).map(entryView) } }),
    }),
    route(`GET ${path}/grants`, reader, `Grants of a ${name} that are in force`, {
      gives: GrantList,
      handle: async ({ parts, id }) => {
        const { grants } = await registry(parts).asItHolds(await registry(parts).get(id));
        return { json: { grants: grantsView(grants, await parts.registry.nowMs()) } };
      },
    }),
    route(`POST ${path}/grants`, 'keys', `Grants a ${name} more of one window for a while`, {
      takes: NewGrant,
      status: 201,
      gives: Grant,
      handle: async ({ parts, id, body, actor }) => {
        const { grants = [] } = await registry(parts).grant(id, body, actor);
        return { json: grantView(grants.at(-1)!) };
      },
    }),
    route(`DELETE ${path}/grants/{grant}`, 'keys', `Ends a grant of a ${name} now`, {
      handle: ({ parts, id, grant, actor }) => registry(parts).withdraw(id, grant, actor),
    }),
    route(`GET ${path}/export`, 'operator', `All that is stored about a ${name}, without secrets`, {
      gives: ['application/json'],
      handle: async ({ parts, id }) => ({
        type: 'application/json',
        chunks: kind.exported(parts, await registry(parts).get(id)),
      }),
    }),
    route(`POST ${path}/erase`, 'operator', `Forgets name and notes of a ${name} that has ended; the counts stay`, {
      handle: ({ parts, id, actor }) => kind.erase(parts, id, actor),
    }),
  ];
}
