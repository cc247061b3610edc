import { Notice } from '../pages/components/notice.js';
import { TextField } from '../pages/components/form.js';
import { framed } from './frame.js';

interface SignInParts {
  readonly path: string;
  /** What was wrong with the previous attempt. */
  readonly problem?: string;
  /** Whether the browser reloads immediately, so that the request comes from this page. */
  readonly again?: boolean;
}

export function signInPage({ path, problem, again = false }: SignInParts): string {
  return framed({ path, title: 'Sign in', formToken: null, again, children: <SignIn path={path} problem={problem} /> });
}

function SignIn({ path, problem }: { readonly path: string; readonly problem: string | undefined }) {
  return (
    <>
      {problem !== undefined && (
        <Notice level="danger">
          <p>{problem}</p>
        </Notice>
      )}
      <p>See your API key's limits and usage, and replace it. Signing in does not count against its limits.</p>
      <form method="post" action={path}>
        <TextField
          name="key"
          label="API key"
          type="password"
          required
          autofocus
          autocomplete="current-password"
          hint="The whole key, as you send it with requests. It is not kept: a cookie says that you hold it."
        />
        <button class="main">Sign in</button>
      </form>
    </>
  );
}
