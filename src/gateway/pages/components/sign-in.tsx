import type { Child } from '#jsx/jsx-runtime';
import { TextField } from './form.js';
import { Notice } from './notice.js';

interface SignInParts {
  readonly action: string;
  /** Name and label of the field for the secret. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** What was wrong with the previous attempt. */
  readonly problem?: string | undefined;
  /** Shown above the field: text, or hidden fields. */
  readonly children?: Child;
}

export function SignInForm({ action, problem, children, ...field }: SignInParts) {
  return (
    <>
      {problem !== undefined && <Notice level="danger">{problem}</Notice>}
      <form method="post" action={action}>
        {children}
        <TextField {...field} type="password" required autofocus autocomplete="current-password" />
        <button class="main">Sign in</button>
      </form>
    </>
  );
}
