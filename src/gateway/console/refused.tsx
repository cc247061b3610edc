import type { AdminRefusal } from '../actions/answer.js';
import { Notice } from '../pages/components/notice.js';
import { CONSOLE } from './visit/page.js';
import { TokenForm } from './visit/sign-in.js';

const TITLES: Readonly<Record<number, string>> = {
  400: 'This can’t be read',
  403: 'Not with this role',
  404: 'Nothing is here',
  405: 'Not this way',
  409: 'This is not possible now',
  413: 'Too large',
  415: 'Not a form',
  421: 'Unknown name',
  429: 'Too many attempts',
  503: 'Not available now',
};

export function refusalTitle({ status, code }: AdminRefusal): string {
  if (status === 401) return 'Sign in';
  if (code === 'forged_form') return 'Form not sent from this console';
  return TITLES[status] ?? (status < 500 ? 'This was refused' : 'Something went wrong');
}

interface RefusedParts {
  readonly refusal: AdminRefusal;
  /** Where signing in leads; empty after a form, which is not sent again. */
  readonly to: string;
  readonly signedIn: boolean;
}

/** Shows a refusal as a page: what is wrong and what to do. */
export function Refused({ refusal, to, signedIn }: RefusedParts) {
  const { status, code, message, headers } = refusal;
  if (status === 401)
    return (
      <>
        {to === '' && (
          <Notice level="warn">Your session has ended, so nothing was changed. Sign in and try again.</Notice>
        )}
        <TokenForm to={to} />
      </>
    );
  const [problem, ...more] = message.split('\n');
  const wait = headers['Retry-After'];
  return (
    <>
      <Notice
        level={status < 500 ? 'warn' : 'danger'}
        more={more.map((line) => (
          <p>{line}</p>
        ))}
      >
        {problem}
      </Notice>
      {typeof wait === 'string' && <p>{`Try again in ${wait} s.`}</p>}
      <p class="soft">
        {'Code '}
        <code>{code}</code>
        {`, status ${status}.`}
      </p>
      {signedIn && (
        <p>
          <a href={`${CONSOLE}/`}>Overview</a>
        </p>
      )}
    </>
  );
}
