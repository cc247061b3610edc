import { AdminRefusal } from './answer.js';
import type { Route } from './route.js';

export const STORE_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/admin/v1/store/accept',
    summary: 'Takes Redis as it is, though it has lost its data or is another one',
    role: 'operator',
    gives: [200, 'AcceptedStore'],
    handle: async ({ parts: { engine, log }, actor }) => {
      const { trust } = engine;
      if (trust === undefined)
        throw new AdminRefusal(404, 'no_shared_store', 'The store is embedded: it is whatever its folder holds.');
      const accepted = trust.replaced() !== null;
      const id = await trust.accept();
      log.warn({ id, accepted, actor }, 'the store was accepted as it is');
      return { json: { id, accepted } };
    },
  },
];
