import { IssuedKey } from '../../actions/schemas.js';
import { action } from '../accounts/account.js';
import { banIn } from '../accounts/ban-form.js';
import { changeIn } from '../accounts/change.js';
import { correctionAction } from '../accounts/corrections.js';
import { grantActions } from '../accounts/grants.js';
import { page, type Page } from '../page.js';
import { createKey, NewKeyForm, Secret } from './create.js';
import { listKeys } from './list.js';
import { KEY } from './one.js';

const CHANGE = `PATCH ${KEY.api}`;

/** Keys: all, one, and a new one. */
export const KEY_PAGES: readonly Page[] = [
  page('GET /keys', 'GET /admin/v1/keys', 'Keys', { menu: 'Keys', serve: listKeys }),
  page('GET /keys/new', 'POST /admin/v1/keys', 'Create a key', {
    serve: (visit) => ({ content: <NewKeyForm visit={visit} /> }),
  }),
  page('POST /keys', 'POST /admin/v1/keys', 'Create a key', { serve: createKey }),
  page('GET /keys/{id}', `GET ${KEY.api}`, 'Key', { serve: (visit) => KEY.show(visit, []) }),
  action(KEY, { name: 'changed', line: CHANGE, title: 'Change a key', body: changeIn }),
  action(KEY, { name: 'enabled', line: CHANGE, title: 'Enable a key', body: () => ({ status: 'enabled' }) }),
  action(KEY, { name: 'disabled', line: CHANGE, title: 'Disable a key', body: () => ({ status: 'disabled' }) }),
  action(KEY, {
    name: 'rotated',
    line: `POST ${KEY.api}/rotate`,
    title: 'Rotate a key',
    body: ({ form }) => ({ overlap: form.text('overlap').trim() }),
    answer: (_visit, json) => ({ title: 'New secret', content: <Secret issued={IssuedKey.parse(json)} /> }),
  }),
  action(KEY, {
    name: 'banned',
    line: 'PUT /admin/v1/bans/{id}',
    title: 'Ban a key',
    body: ({ form }) => banIn(form),
  }),
  action(KEY, { name: 'lifted', line: 'DELETE /admin/v1/bans/{id}', title: 'Lift a ban' }),
  action(KEY, { name: 'revoked', line: `DELETE ${KEY.api}`, title: 'Revoke a key' }),
  correctionAction(KEY),
  ...grantActions(KEY),
];
