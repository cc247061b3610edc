import type { RefusalPage } from '../answer.js';
import { ACCOUNT_IDS } from '../contract/own.js';
import { onlyValueOf, wantsHtml } from '../edge/fields.js';
import { Notice } from '../pages/components/notice.js';
import type { Refusal } from '../refusal.js';
import { framed } from './frame.js';
import { noCors, PAGE_FIELDS } from './respond.js';
import { signInPage } from './sign-in.js';

/** Refusals after which the visitor may enter a key. */
const SIGNED_OUT: readonly string[] = ['missing_api_key', 'invalid_api_key'];

/** Renders refusals of these pages for browsers, whichever step of the exchange refused. */
export function createRefusalPage(path: string): RefusalPage {
  return (exchange, refusal) => {
    const { headers, logEntry } = exchange;
    if (!ACCOUNT_IDS.includes(logEntry.operation) || !wantsHtml(onlyValueOf(headers, 'accept') ?? '')) return null;
    noCors(exchange);
    const { message } = JSON.parse(refusal.body) as { readonly message: string };
    const body = SIGNED_OUT.includes(refusal.code)
      ? signInPage({ path, problem: message })
      : framed({
          ...{ path, title: titleOf(refusal), formToken: null },
          children: <Refused path={path} message={message} refusal={refusal} request={exchange.id} />,
        });
    return { headers: PAGE_FIELDS, body };
  };
}

interface RefusedParts {
  readonly path: string;
  readonly message: string;
  readonly refusal: Refusal;
  readonly request: string;
}

function Refused({ path, message, refusal: { code }, request }: RefusedParts) {
  return (
    <>
      <Notice level="danger">{message}</Notice>
      <p class="hint">
        {`Code ${code}, request `}
        <code>{request}</code>
      </p>
      <p>
        <a href={path}>Open your key</a>
      </p>
    </>
  );
}

function titleOf({ status, code }: Refusal): string {
  if (code === 'insecure_connection') return 'This connection is not private';
  if (code === 'invalid_form') return 'This form was not accepted';
  if (status === 429) return 'Too many requests';
  if (status === 404) return 'This page does not exist';
  return status >= 500 ? 'Not right now' : 'Refused';
}
