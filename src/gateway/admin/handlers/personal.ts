import { eraseCustomer, eraseKey } from '../../accounts/erase.js';
import { handler } from '../route.js';
import { exportOfCustomer, exportOfKey } from './export.js';

// What the store holds about one person, and how it is forgotten.

const JSON_TYPE = 'application/json';

export const exportKey = handler({
  gives: [JSON_TYPE],
  handle: async ({ parts, id }) => ({ type: JSON_TYPE, chunks: exportOfKey(parts, await parts.registry.get(id)) }),
});

export const exportCustomer = handler({
  gives: [JSON_TYPE],
  handle: async ({ parts, id }) => ({
    type: JSON_TYPE,
    chunks: exportOfCustomer(parts, await parts.registry.customers.get(id)),
  }),
});

export const eraseOfKey = handler({
  handle: async ({ parts, id, actor }) => {
    await eraseKey(parts, id, actor);
  },
});

export const eraseOfCustomer = handler({
  handle: async ({ parts, id, actor }) => {
    await eraseCustomer(parts, id, actor);
  },
});
