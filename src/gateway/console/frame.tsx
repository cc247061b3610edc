import { rolesFor } from '../actions/access/roles.js';
import type { Caller } from '../admin/access/authorize.js';
import { documentOf, type Frame } from '../pages/document.js';
import { CONSOLE, type Page } from './visit/page.js';
import { SIGN_OUT } from './visit/sign-in.js';
import { WhySearch } from './why/pages.js';

/** The role for the page `/why`. */
const WHY_ACCESS = 'read';

interface FrameParts extends Pick<Frame, 'title' | 'script' | 'again' | 'children'> {
  readonly path: string;
  readonly pages: readonly Page[];
  /** Null if nobody is signed in. */
  readonly visitor: { readonly caller: Caller; readonly formToken: string } | null;
}

/** Returns a page of the console as HTML. The menu lists the pages that the visitor may see. */
export function framed({ path, pages, visitor, ...page }: FrameParts): string {
  return documentOf({
    ...page,
    files: `${CONSOLE}/files`,
    home: { path: `${CONSOLE}/`, label: 'Petgate' },
    links: visitor === null ? [] : menuOf(pages, visitor.caller),
    current: currentOf(pages, path),
    tools: visitor !== null && <Tools {...visitor.caller} />,
    signOut: visitor === null ? null : { path: SIGN_OUT, formToken: visitor.formToken },
  });
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

function Tools({ name, role }: Caller) {
  return (
    <>
      {rolesFor(WHY_ACCESS).includes(role) && <WhySearch />}
      <span>{`${name ?? 'Environment'} (${role})`}</span>
    </>
  );
}
