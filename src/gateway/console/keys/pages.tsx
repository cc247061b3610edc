import { page, type Page } from '../visit/page.js';
import { createKey, NewKeyForm } from './create.js';
import { listKeys } from './list.js';
import { showKey } from './one.js';

export const KEY_PAGES: readonly Page[] = [
  page('GET /keys', 'GET /admin/v1/keys', 'Keys', { menu: 'Keys', serve: listKeys }),
  page('GET /keys/new', 'POST /admin/v1/keys', 'Create a key', {
    serve: (visit) => ({ content: <NewKeyForm visit={visit} /> }),
  }),
  page('POST /keys', 'POST /admin/v1/keys', 'Create a key', { serve: createKey }),
  page('GET /keys/{id}', 'GET /admin/v1/keys/{id}', 'Key', { serve: (visit) => showKey(visit, []) }),
];
