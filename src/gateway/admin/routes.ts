import { action, type Action } from '../actions/action.js';
import { ACTIONS } from '../actions/table/actions.js';
import { describe } from './describe.js';

/** All routes of the admin API. */
export const ROUTES: readonly Action[] = [
  ...ACTIONS,
  action('GET /admin/v1/openapi.json', 'any', 'This description of the admin API', {
    gives: ['application/json'],
    handle: () => ({ json: describe(ROUTES) }),
  }),
];
