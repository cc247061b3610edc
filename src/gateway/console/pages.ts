import { OVERVIEW_PAGES } from './overview/pages.js';
import type { Page } from './page.js';
import { SIGN_IN_PAGES } from './sign-in/pages.js';

/** All pages; the menu has them in this order. */
export const PAGES: readonly Page[] = [...OVERVIEW_PAGES, ...SIGN_IN_PAGES];
