import { ACCESS_PAGES, showAccess } from './access/pages.js';
import { AUDIT_PAGES } from './audit/pages.js';
import { BAN_PAGES, showBans } from './bans/pages.js';
import { showCustomer } from './customers/one.js';
import { CUSTOMER_PAGES } from './customers/pages.js';
import { EVENT_PAGES } from './events/pages.js';
import { formPages } from './forms/pages.js';
import { showKey } from './keys/one.js';
import { KEY_PAGES } from './keys/pages.js';
import { OVERVIEW_PAGES } from './overview/pages.js';
import type { Page } from './visit/page.js';
import { PLAN_PAGES } from './plans/pages.js';
import { RUNBOOK_PAGES } from './runbooks/pages.js';
import { SETTINGS_PAGES } from './settings/pages.js';
import { SIGN_IN_PAGES } from './visit/sign-in.js';
import { WHY_PAGES } from './why/pages.js';
import { USAGE_PAGES } from './usage/pages.js';

/** All pages, in the order of the menu. */
export const PAGES: readonly Page[] = [
  ...OVERVIEW_PAGES,
  ...KEY_PAGES,
  ...CUSTOMER_PAGES,
  ...BAN_PAGES,
  ...USAGE_PAGES,
  ...PLAN_PAGES,
  ...EVENT_PAGES,
  ...WHY_PAGES,
  ...ACCESS_PAGES,
  ...AUDIT_PAGES,
  ...SETTINGS_PAGES,
  ...RUNBOOK_PAGES,
  ...SIGN_IN_PAGES,
  ...formPages({
    '/keys/{id}': showKey,
    '/customers/{id}': showCustomer,
    '/bans': showBans,
    '/access': showAccess,
  }),
];
