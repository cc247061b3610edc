import { BAN_ROUTES } from './bans.js';
import { CUSTOMER_ROUTES } from './customers/routes.js';
import { EVENT_ROUTES } from './events.js';
import { GRANT_ROUTES } from './grants.js';
import { KEY_ROUTES } from './keys.js';
import { ARCHIVE_ROUTES } from './ledger/archive.js';
import { describe } from './openapi/describe.js';
import { PERSONAL_ROUTES } from './personal/routes.js';
import { PLAN_ROUTES } from './plans.js';
import { PROBE_ROUTES } from './probes.js';
import type { Route } from './route.js';
import { STORE_ROUTES } from './store.js';
import { TOKEN_ROUTES } from './tokens.js';
import { USAGE_ROUTES } from './usage.js';

/** Everything that the admin port answers. */
export const ROUTES: readonly Route[] = [
  ...PROBE_ROUTES,
  ...KEY_ROUTES,
  ...CUSTOMER_ROUTES,
  ...GRANT_ROUTES,
  ...PERSONAL_ROUTES,
  ...BAN_ROUTES,
  ...PLAN_ROUTES,
  ...EVENT_ROUTES,
  ...USAGE_ROUTES,
  ...ARCHIVE_ROUTES,
  ...STORE_ROUTES,
  ...TOKEN_ROUTES,
  {
    method: 'GET',
    path: '/admin/v1/openapi.json',
    summary: 'This description of the admin API',
    role: 'any',
    gives: [200, ['application/json']],
    handle: () => ({ json: describe(ROUTES) }),
  },
];
