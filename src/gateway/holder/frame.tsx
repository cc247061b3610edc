import type { Child } from '#jsx/jsx-runtime';
import { Document, documentOf } from '../pages/document.js';

interface FrameParts {
  readonly path: string;
  readonly title: string;
  /** Null where nobody is signed in. */
  readonly formToken: string | null;
  readonly again?: boolean;
  readonly children: Child;
}

/** A page for the holder of a key. */
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
