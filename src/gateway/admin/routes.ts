import { ADDRESS_BAN_ROUTES } from './handlers/address-bans.js';
import { ARCHIVE_ROUTES } from './handlers/archive.js';
import { AUDIT_ROUTES } from './handlers/audit.js';
import { BAN_ROUTES } from './handlers/bans.js';
import { CORRECTION_ROUTES } from './handlers/corrections.js';
import { CUSTOMER_ROUTES } from './handlers/customers.js';
import { EVENT_ROUTES } from './handlers/events.js';
import { EXCHANGE_ROUTES } from './handlers/exchanges.js';
import { GATEWAY_ROUTES } from './handlers/gateways.js';
import { KEY_ROUTES } from './handlers/keys.js';
import { PLAN_ROUTES } from './handlers/plans.js';
import { SERVICE_ROUTES } from './handlers/service.js';
import { TOKEN_ROUTES } from './handlers/tokens.js';
import { USAGE_ROUTES } from './handlers/usage.js';
import { WINDOW_ROUTES } from './handlers/windows.js';
import { describe } from './openapi/describe.js';
import { route, type Route } from './route.js';
import { TRANSFER_ROUTES } from './transfer.js';

/** Everything that the admin port answers; each file says who may ask, and what it does. */
export const ROUTES: readonly Route[] = [
  ...SERVICE_ROUTES,
  ...TRANSFER_ROUTES,
  ...KEY_ROUTES,
  ...WINDOW_ROUTES,
  ...CUSTOMER_ROUTES,
  ...ADDRESS_BAN_ROUTES,
  ...BAN_ROUTES,
  ...PLAN_ROUTES,
  ...EVENT_ROUTES,
  ...EXCHANGE_ROUTES,
  ...GATEWAY_ROUTES,
  ...USAGE_ROUTES,
  ...CORRECTION_ROUTES,
  ...ARCHIVE_ROUTES,
  ...TOKEN_ROUTES,
  ...AUDIT_ROUTES,
  route('GET /admin/v1/openapi.json', 'any', 'This description of the admin API', {
    gives: ['application/json'],
    handle: () => ({ json: describe(ROUTES) }),
  }),
];
