import { ADDRESS_BAN_ACTIONS } from '../accounts/address-bans.js';
import { ARCHIVE_ACTIONS } from '../usage/archive.js';
import { AUDIT_ACTIONS } from '../service/audit.js';
import { BAN_ACTIONS } from '../accounts/bans.js';
import { CORRECTION_ACTIONS } from '../usage/corrections.js';
import { CUSTOMER_ACTIONS } from '../accounts/customers.js';
import { EVENT_ACTIONS } from '../service/events.js';
import { EXCHANGE_ACTIONS } from '../service/exchanges.js';
import { GATEWAY_ACTIONS } from '../service/gateways.js';
import { KEY_ACTIONS } from '../accounts/keys.js';
import { PLAN_ACTIONS } from '../usage/plans.js';
import { SERVICE_ACTIONS } from '../service/service.js';
import { TOKEN_ACTIONS } from '../service/access.js';
import { USAGE_ACTIONS } from '../usage/reports.js';
import { WINDOW_ACTIONS } from '../accounts/windows.js';
import type { Action } from '../action.js';
import { TRANSFER_ACTIONS } from '../service/transfer.js';

/** Everything operators can do. The admin API, the command line and the console's forms are derived from it. */
export const ACTIONS: readonly Action[] = [
  ...SERVICE_ACTIONS,
  ...TRANSFER_ACTIONS,
  ...KEY_ACTIONS,
  ...WINDOW_ACTIONS,
  ...CUSTOMER_ACTIONS,
  ...ADDRESS_BAN_ACTIONS,
  ...BAN_ACTIONS,
  ...PLAN_ACTIONS,
  ...EVENT_ACTIONS,
  ...EXCHANGE_ACTIONS,
  ...GATEWAY_ACTIONS,
  ...USAGE_ACTIONS,
  ...CORRECTION_ACTIONS,
  ...ARCHIVE_ACTIONS,
  ...TOKEN_ACTIONS,
  ...AUDIT_ACTIONS,
];
