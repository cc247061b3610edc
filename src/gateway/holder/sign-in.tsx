import { SignInForm } from '../pages/components/sign-in.js';
import { framed } from './frame.js';

interface SignInParts {
  readonly path: string;
  /** What was wrong with the previous attempt. */
  readonly problem?: string;
  /** Whether the browser reloads immediately, so that the request comes from this page. */
  readonly again?: boolean;
}

export function signInPage({ path, problem, again = false }: SignInParts): string {
  return framed({
    ...{ path, title: 'Sign in', formToken: null, again },
    children: (
      <SignInForm
        action={path}
        name="key"
        label="API key"
        hint="The whole key, as you send it with requests. It is not kept: a cookie says that you hold it."
        problem={problem}
      >
        <p>See your API key's limits and usage, and replace it. Signing in does not count against its limits.</p>
      </SignInForm>
    ),
  });
}
