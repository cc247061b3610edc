import { NewKey } from '../../actions/schemas.js';
import { createPages } from '../forms/create.js';
import { page, type Page } from '../visit/page.js';
import { CREATE, createKey } from './create.js';
import { listKeys } from './list.js';
import { showKey } from './one.js';

export const KEY_PAGES: readonly Page[] = [
  page('GET /keys', 'GET /admin/v1/keys', 'Keys', { menu: 'Keys', serve: listKeys }),
  ...createPages({
    ...{ path: '/keys', line: CREATE, takes: NewKey, title: 'Create a key', main: ['name', 'customer', 'plan'] },
    ...{ more: ['expires', 'scopes', 'limits', 'note'], summary: 'Expiry, scopes, limits, note' },
    valuesOf: ({ query }) => ({ customer: query.text('customer') }),
    create: createKey,
  }),
  page('GET /keys/{id}', 'GET /admin/v1/keys/{id}', 'Key', { serve: showKey }),
];
