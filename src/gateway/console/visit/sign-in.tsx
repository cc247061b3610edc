import { AdminRefusal } from '../../actions/answer.js';
import { SignInForm } from '../../pages/components/sign-in.js';
import { isOwnForm } from '../../pages/session.js';
import { CONSOLE, openPage, type OpenVisit, type Page, type PageAnswer } from './page.js';

const FIELD = 'token';
const HINT = 'From "petgate tokens create", PETGATE_ADMIN_TOKEN, or the file admin-token in the data folder.';

export const SIGN_IN = `${CONSOLE}/sign-in`;
export const SIGN_OUT = `${CONSOLE}/sign-out`;

/** Pages that need no session. */
export const SIGN_IN_PAGES: readonly Page[] = [
  openPage('GET /sign-in', 'Sign in', ({ query }) => ({ content: <TokenForm to={query.text('to')} /> })),
  openPage('POST /sign-in', 'Sign in', signIn),
  openPage('POST /sign-out', 'Sign out', async ({ form, formToken, sessions }) => {
    if (formToken === null) return { to: SIGN_IN, session: '' };
    // Other sites must not be able to sign a visitor out.
    if (!isOwnForm({ formToken }, form.text('form')))
      throw new AdminRefusal(
        403,
        'forged_form',
        'This form does not belong to your session. Go back, reload the page, and try again.',
      );
    await sessions.end(formToken);
    return { to: SIGN_IN, session: '' };
  }),
];

async function signIn({ form, sessions, address, nowMs }: OpenVisit): Promise<PageAnswer> {
  const to = form.text('to');
  try {
    const session = await sessions.begin(form.text(FIELD).trim(), address, nowMs);
    return { to: ownPath(to), session };
  } catch (error) {
    if (!(error instanceof AdminRefusal) || ![401, 429].includes(error.status)) throw error;
    const problem = error.status === 429 ? error.message : 'This admin token is not valid.';
    return { content: <TokenForm to={to} problem={problem} />, status: error.status };
  }
}

interface SignInParts {
  /** The page to open after signing in. */
  readonly to: string;
  readonly problem?: string;
}

export function TokenForm({ to, problem }: SignInParts) {
  return (
    <SignInForm action={SIGN_IN} name={FIELD} label="Admin token" hint={HINT} problem={problem}>
      <input type="hidden" name="to" value={to} />
    </SignInForm>
  );
}

/** Returns `path` if it is in the console, else the overview: a link must not redirect to another host. */
function ownPath(path: string): string {
  return /^\/console\/[\w\-./?=&%+~:,]*$/.test(path) && !path.includes('//') ? path : `${CONSOLE}/`;
}
