import type { Child } from '#jsx/jsx-runtime';
import type { Access } from '../actions/access/roles.js';
import type { Caller } from '../admin/access/authorize.js';
import type { Headers } from '../actions/answer.js';
import type { AdminParts } from '../actions/action.js';
import { ACTIONS } from '../actions/table.js';
import type { Guard } from '../pages/components/form.js';
import type { Form } from '../pages/form.js';
import type { AdminApi } from './api.js';
import type { Samples } from './figures/samples.js';
import type { SignIn } from './sign-in/sessions.js';

/** The path that all pages are below. */
export const CONSOLE = '/console';

/** One request for a page. */
export interface Visit {
  readonly parts: AdminParts;
  /** Asks routes of the admin API in the visitor's name. */
  readonly api: AdminApi;
  readonly caller: Caller;
  /** The `{id}` and `{part}` of the path; empty if it has none. */
  readonly id: string;
  readonly part: string;
  readonly query: Form;
  /** What was sent; of a GET nothing. */
  readonly form: Form;
  /** Of an action, such as `/keys/{id}/banned`: it was sent, and nothing came of it. */
  readonly posted?: string;
  /** For a form that is shown. */
  readonly guard: () => Guard;
  readonly nowMs: number;
  /** What was measured in the last while. */
  readonly samples: Samples;
}

/** What answers an open page as well: nobody is signed in yet. */
export interface OpenVisit extends Pick<Visit, 'query' | 'form' | 'nowMs'> {
  readonly sessions: SignIn;
  readonly address: string | undefined;
  /** Of the session that is to end; null where there is none. */
  readonly formToken: string | null;
}

export type PageAnswer =
  /** A page. `status` where it is not 200, `title` where it is not the page's own. */
  | { readonly content: Child; readonly title?: string; readonly status?: number; readonly live?: boolean }
  /** Leads to another page, so that a reload does not send a form again; a cookie where it changes. */
  | { readonly to: string; readonly session?: string }
  /** A part of a page, of a form of its own, or something to be kept. */
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly chunks: AsyncIterable<string | Buffer>; readonly headers?: Headers };

interface PageParts {
  /** Its name in the menu; left out: it has no place there. */
  readonly menu?: string;
  /** True: asked by a script, which is no sign of a person at the screen. */
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
 * @param as the route of the admin API whose role it takes, or `any` for whoever is signed in
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

/** Throws where there is no such route: found when this file is loaded. */
function roleOf(line: string): Exclude<Access, 'open'> {
  const role = ACTIONS.find(({ method, path }) => `${method} ${path}` === line)?.role;
  if (role === undefined || role === 'open') throw new Error(`the admin API has no route "${line}" with a role`);
  return role;
}
