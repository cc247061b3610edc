import type { Child } from '#jsx/jsx-runtime';
import { Document, documentOf } from '../pages/document.js';

interface FrameParts {
  readonly path: string;
  readonly title: string;
  /** Null if nobody is signed in. */
  readonly formToken: string | null;
  readonly again?: boolean;
  readonly children: Child;
}

/** Renders a page for a key holder. */
export function framed({ path, title, formToken, again, children }: FrameParts): string {
  return documentOf(
    <Document
      title={title}
      files={path}
      home={{ path, label: 'Your API key' }}
      links={[]}
      current={path}
      again={again}
      tools={formToken === null ? undefined : <SignOut path={path} formToken={formToken} />}
    >
      {children}
    </Document>,
  );
}

function SignOut({ path, formToken }: { readonly path: string; readonly formToken: string }) {
  return (
    <form method="post" action={`${path}/sign-out`} class="inline">
      <input type="hidden" name="form" value={formToken} />
      <button>Sign out</button>
    </form>
  );
}
