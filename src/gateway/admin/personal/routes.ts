import { eraseCustomer, eraseKey } from '../../accounts/erase.js';
import type { Answer } from '../answer.js';
import type { Call, Route } from '../route.js';
import { exportOfCustomer, exportOfKey } from './export.js';

const JSON_TYPE = 'application/json';

/** What the store holds about one person, and how it is forgotten. */
export const PERSONAL_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/keys/{id}/export',
    summary: 'All that is stored about a key, without secrets and their hashes',
    role: 'operator',
    gives: [200, [JSON_TYPE]],
    handle: exportKey,
  },
  {
    method: 'POST',
    path: '/admin/v1/keys/{id}/erase',
    summary: 'Forgets name and notes of a revoked key; its id and what it was counted stay',
    role: 'operator',
    gives: [204],
    handle: forgetKey,
  },
  {
    method: 'GET',
    path: '/admin/v1/customers/{id}/export',
    summary: 'All that is stored about a customer and its keys, without secrets and their hashes',
    role: 'operator',
    gives: [200, [JSON_TYPE]],
    handle: exportCustomer,
  },
  {
    method: 'POST',
    path: '/admin/v1/customers/{id}/erase',
    summary: 'Forgets name, reference and notes of a closed customer and its keys; ids and what was counted stay',
    role: 'operator',
    gives: [204],
    handle: forgetCustomer,
  },
];

async function exportKey({ parts, id }: Call): Promise<Answer> {
  const record = await parts.registry.get(id);
  return { type: JSON_TYPE, chunks: exportOfKey(parts, record) };
}

async function exportCustomer({ parts, id }: Call): Promise<Answer> {
  const record = await parts.registry.customers.get(id);
  return { type: JSON_TYPE, chunks: exportOfCustomer(parts, record) };
}

async function forgetKey({ parts, id, actor }: Call): Promise<undefined> {
  await eraseKey(parts, id, actor);
}

async function forgetCustomer({ parts, id, actor }: Call): Promise<undefined> {
  await eraseCustomer(parts, id, actor);
}
