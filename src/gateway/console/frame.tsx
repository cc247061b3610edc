import type { Child } from '#jsx/jsx-runtime';
import { rolesFor } from '../actions/access/roles.js';
import type { Caller } from '../admin/access/authorize.js';
import { Document, documentOf } from '../pages/document.js';
import { CONSOLE, type Page } from './page.js';
import { SIGN_OUT } from './sign-in/pages.js';

/** The role for the page `/why`. */
const WHY_ACCESS = 'read';

interface FrameParts {
  readonly title: string;
  readonly path: string;
  readonly pages: readonly Page[];
  /** Null if nobody is signed in. */
  readonly visitor: { readonly caller: Caller; readonly formToken: string } | null;
  readonly script?: string | undefined;
  readonly again?: boolean | undefined;
  readonly children: Child;
}

/** Returns a page of the console as HTML. The menu lists the pages that the visitor may see. */
export function framed({ title, path, pages, visitor, script, again, children }: FrameParts): string {
  return documentOf(
    <Document
      title={title}
      files={`${CONSOLE}/files`}
      home={{ path: `${CONSOLE}/`, label: 'Petgate' }}
      links={visitor === null ? [] : menuOf(pages, visitor.caller)}
      current={currentOf(pages, path)}
      tools={visitor === null ? undefined : <Tools {...visitor} />}
      script={script}
      again={again}
    >
      {children}
    </Document>,
  );
}

function menuOf(pages: readonly Page[], { role }: Caller) {
  return pages.flatMap(({ path, menu, role: access }) =>
    menu !== undefined && rolesFor(access).includes(role) ? [{ path, label: menu }] : [],
  );
}

/** Returns the path of the menu page that `path` is, or is below; '' without one. */
function currentOf(pages: readonly Page[], path: string): string {
  const above = pages.filter((one) => one.menu !== undefined && (one.path === path || path.startsWith(`${one.path}/`)));
  return above[0]?.path ?? '';
}

function Tools({ caller: { name, role }, formToken }: NonNullable<FrameParts['visitor']>) {
  return (
    <>
      {rolesFor(WHY_ACCESS).includes(role) && (
        <form method="get" action={`${CONSOLE}/why`} class="inline" role="search">
          <input type="search" name="id" aria-label="Request id" placeholder="Request id" maxlength={200} required />
          <button>Why?</button>
        </form>
      )}
      <span>{`${name ?? 'Environment'} (${role})`}</span>
      <form method="post" action={SIGN_OUT} class="inline">
        <input type="hidden" name="form" value={formToken} />
        <button>Sign out</button>
      </form>
    </>
  );
}
