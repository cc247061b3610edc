import type { Child } from '#jsx/jsx-runtime';
import type { Access } from '../../actions/access/roles.js';
import type { Caller } from '../../admin/access/authorize.js';
import type { Headers } from '../../actions/answer.js';
import type { AdminParts } from '../../actions/action.js';
import { ACTIONS } from '../../actions/table/actions.js';
import type { Guard } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';
import type { AdminApi } from './api.js';
import type { DailyUsage } from '../../usage/daily/daily.js';
import type { Samples } from '../figures/samples.js';
import type { SignIn } from './sessions.js';

/** The path of the console; all pages are below it. */
export const CONSOLE = '/console';

/** Returns the path of a record's page. @param path the list it is in, such as `/keys` */
export function pathOf(path: string, id: string): string {
  return `${CONSOLE}${path}/${encodeURIComponent(id)}`;
}

/** One request for a page. */
export interface Visit {
  readonly parts: AdminParts;
  /** Calls routes of the admin API with the visitor's role. */
  readonly api: AdminApi;
  readonly caller: Caller;
  /** The `{id}` and `{part}` of the path; empty if it has none. */
  readonly id: string;
  readonly part: string;
  readonly query: Form;
  /** The submitted form; empty for a GET. */
  readonly form: Form;
  /** The page that its forms belong to, such as `/keys/{id}`. */
  readonly on: string;
  /** The form that was submitted and failed, such as `/keys/{id}/banned`, and why; empty otherwise. */
  readonly posted?: string;
  readonly problems: readonly string[];
  /** Creates the hidden fields of a form. */
  readonly guard: () => Guard;
  readonly nowMs: number;
  /** Metrics of the last two minutes, and their history. */
  readonly samples: Samples;
  /** The ledger by day, in memory. */
  readonly daily: DailyUsage;
}

/** One request for a page that needs no session. */
export interface OpenVisit extends Pick<Visit, 'query' | 'form' | 'nowMs'> {
  readonly sessions: SignIn;
  readonly address: string | undefined;
  /** Form token of the current session; null without one. */
  readonly formToken: string | null;
}

export type PageAnswer =
  /** A page. Default: status 200, and the title of the page's entry. `live`: loads the script. */
  | { readonly content: Child; readonly title?: string; readonly status?: number; readonly live?: boolean }
  /** Redirects, so that a reload does not send a form again. `session`: new value of the cookie; '' deletes it. */
  | { readonly to: string; readonly session?: string }
  /** A part of a page (`text`), or a download (`chunks`). */
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly chunks: AsyncIterable<string | Buffer>; readonly headers?: Headers };

interface PageParts {
  /** Its name in the menu. Absent: not in the menu. */
  readonly menu?: string;
  /** True if a script requests it, not a person: the session is then not renewed. */
  readonly unattended?: boolean;
}

interface SignedInPage extends PageParts {
  readonly role: Exclude<Access, 'open'>;
  readonly serve: (visit: Visit) => PageAnswer | Promise<PageAnswer>;
}

interface OpenPage extends PageParts {
  readonly role: 'open';
  readonly serve: (visit: OpenVisit) => PageAnswer | Promise<PageAnswer>;
}

export type Page = (SignedInPage | OpenPage) & {
  readonly method: string;
  /** With at most one `{id}` and one `{part}`. */
  readonly path: string;
  readonly title: string;
};

/**
 * @param line method and path below /console
 * @param as the route of the admin API whose role the page requires, or `any` for anyone signed in
 */
export function page(line: string, as: string, title: string, one: Omit<SignedInPage, 'role'>): Page {
  return { ...one, ...placed(line), title, role: as === 'any' ? 'any' : roleOf(as) };
}

export function openPage(line: string, title: string, serve: OpenPage['serve']): Page {
  return { ...placed(line), title, role: 'open', serve };
}

function placed(line: string): Pick<Page, 'method' | 'path'> {
  const [method = '', path = ''] = line.split(' ');
  return { method, path: CONSOLE + path };
}

/** Throws if there is no such route: the gateway then does not start. */
function roleOf(line: string): Exclude<Access, 'open'> {
  const role = ACTIONS.find(({ method, path }) => `${method} ${path}` === line)?.role;
  if (role === undefined || role === 'open') throw new Error(`the admin API has no route "${line}" with a role`);
  return role;
}
