import { KeyRefused } from '../accounts/refused.js';
import { newestOf } from '../accounts/rotation.js';
import type { KeyRegistry } from '../accounts/keys/registry.js';
import { StoreUnavailable } from '../admission/port.js';
import type { OnVerdict } from '../admission/admit.js';
import type { AddressReader } from '../edge/client-address.js';
import { ACCOUNT, ACCOUNT_FILE, ACCOUNT_FORM, SIGN_IN } from '../contract/own.js';
import { challengesOf } from '../refusals/credential-location.js';
import type { Admitted } from '../exchange.js';
import { STYLE_FILE } from '../pages/files.js';
import { InvalidForm } from '../pages/form.js';
import { isOwnForm } from '../pages/session.js';
import { isRefusal, limitReached, REFUSALS, withHeaders, withMessage, type Refusal } from '../refusal.js';
import { ChangeUncertain } from '../store/records/conflicts.js';
import type { OwnResponse } from '../upstream/forward.js';
import { createOwnAllowance } from '../usage/own.js';
import { overviewPage } from './overview.js';
import { readOverview, type OverviewParts } from './overview/read.js';
import { readPosted } from './posted.js';
import { leadTo, sendFile, sendPage, settle } from './respond.js';
import { rotate, rotatedPage } from './rotate.js';
import { signInPage } from './sign-in.js';
import type { Visitor, Visitors } from './visitors.js';
import { valuesOf, wayOf, type Way } from './way.js';

interface HolderParts extends OverviewParts {
  /** Path of the pages, without a trailing slash. */
  readonly path: string;
  readonly visitors: Visitors;
  readonly addresses: Pick<AddressReader, 'trusts'>;
  readonly registry: KeyRegistry;
  readonly realm: string;
  /** Whether key holders may rotate their key. */
  readonly mayRotate: boolean;
  /** Called with the verdict on an address that entered a wrong key. */
  readonly onVerdict: OnVerdict;
  /** A request to try, by language. @param base scheme and host */
  readonly samples: (base: string) => ReadonlyMap<string, string>;
}

/** Creates the pages for key holders, by the name of the gateway's own operation. */
export function createHolderAnswers(parts: HolderParts): ReadonlyMap<string, OwnResponse> {
  const pages = new HolderPages(parts);
  const decided =
    (answer: (exchange: Admitted) => Promise<Refusal | null>): OwnResponse =>
    async (exchange) => {
      try {
        return (await answer(exchange)) ?? undefined;
      } catch (error) {
        if (error instanceof StoreUnavailable) return REFUSALS.store_unavailable;
        if (error instanceof ChangeUncertain) return withMessage(REFUSALS.store_unavailable, error.message);
        if (error instanceof InvalidForm) return withMessage(REFUSALS.invalid_form, error.message);
        throw error;
      }
    };
  return new Map<string, OwnResponse>([
    [ACCOUNT, decided((exchange) => pages.show(exchange))],
    [SIGN_IN, decided((exchange) => pages.signIn(exchange))],
    [ACCOUNT_FILE, (exchange) => pages.file(exchange) ?? undefined],
    [ACCOUNT_FORM, decided((exchange) => pages.form(exchange))],
  ]);
}

class HolderPages {
  readonly #parts: HolderParts;
  readonly #wait = createOwnAllowance();

  constructor(parts: HolderParts) {
    this.#parts = parts;
  }

  async show(exchange: Admitted): Promise<Refusal | null> {
    const { path, visitors, addresses, mayRotate } = this.#parts;
    const way = wayOf(exchange, addresses);
    if (way === 'open') return REFUSALS.insecure_connection;
    const visitor = await visitors.resume(exchange, way);
    if (visitor === null) {
      // A link on another site sends no cookie (SameSite=Strict). A reload from this page sends it.
      const again = valuesOf(exchange.received, 'sec-fetch-site').includes('cross-site');
      return sendPage(exchange, signInPage({ path, again }));
    }
    const refusal = this.#admitted(exchange, visitor);
    if (refusal !== null || isRefusal(visitor)) return refusal;
    const overview = await readOverview(this.#parts, visitor);
    if (overview === null) return SIGNED_OUT;
    const renewed = visitor.renewed();
    const cookie = renewed === null ? null : visitors.cookie(renewed, way);
    const { formToken, secretHash } = visitor;
    const isNewest = newestOf(overview.record.secrets)?.hash === secretHash;
    const samples = this.#parts.samples(`${exchange.scheme}://${exchange.publicHost ?? ''}`);
    const page = overviewPage({ path, formToken, overview, mayRotate: mayRotate && isNewest, samples });
    return sendPage(exchange, page, cookie);
  }

  async signIn(exchange: Admitted): Promise<Refusal | null> {
    const { path, visitors, addresses } = this.#parts;
    const way = wayOf(exchange, addresses);
    const form = await readPosted(exchange, way);
    if (form === null || isRefusal(form)) return form;
    const signedIn = await visitors.signIn(form.text('key').trim());
    if (signedIn === null) return this.#wrongKey(exchange);
    if (isRefusal(signedIn)) return signedIn;
    settle(exchange, signedIn.verdict);
    return leadTo(exchange, path, visitors.cookie(signedIn.cookie, way));
  }

  file(exchange: Admitted): Refusal | null {
    if (!exchange.path.endsWith(`/${STYLE_FILE.name}`)) return REFUSALS.not_found;
    return sendFile(exchange, STYLE_FILE);
  }

  async form(exchange: Admitted): Promise<Refusal | null> {
    const { path, visitors, addresses, mayRotate } = this.#parts;
    const action = exchange.path.slice(path.length + 1);
    if (action !== 'sign-out' && !(action === 'rotate' && mayRotate)) return REFUSALS.not_found;
    const way = wayOf(exchange, addresses);
    const form = await readPosted(exchange, way);
    if (form === null || isRefusal(form)) return form;
    const visitor = await visitors.resume(exchange, way);
    if (visitor === null) return SIGNED_OUT;
    const refusal = this.#admitted(exchange, visitor);
    if (refusal !== null || isRefusal(visitor)) return refusal;
    if (!isOwnForm(visitor, form.text('form'))) return REFUSALS.invalid_form;
    if (action === 'rotate') return this.#rotate(exchange, visitor, form.text('overlap'), way);
    await visitors.signOut(visitor);
    return leadTo(exchange, path, visitors.cookie('', way));
  }

  async #rotate(exchange: Admitted, visitor: Visitor, overlap: string, way: Way): Promise<Refusal | null> {
    const { path, visitors, registry } = this.#parts;
    try {
      const issued = await rotate(registry, visitor, overlap);
      if (issued === null) return REFUSALS.invalid_form;
      // A new session makes the submitted form invalid: sent again, it does nothing.
      const cookie = visitors.cookie(await visitors.begin(visitor.keyId, issued.secretHash), way);
      return sendPage(exchange, rotatedPage({ path, token: issued.token, endsAtMs: issued.endsAtMs }), cookie);
    } catch (error) {
      if (error instanceof KeyRefused) return error.kind === 'conflict' ? REPLACED : SIGNED_OUT;
      throw error;
    }
  }

  /** Returns why the visitor gets no page; null if nothing is wrong. Records the key's verdict for the response. */
  #admitted(exchange: Admitted, visitor: Visitor | Refusal): Refusal | null {
    if (isRefusal(visitor)) return visitor;
    settle(exchange, visitor.verdict);
    return this.#wait(visitor.keyId);
  }

  async #wrongKey(exchange: Admitted): Promise<Refusal> {
    const { visitors, onVerdict, realm } = this.#parts;
    const verdict = await visitors.charge(exchange, SIGN_IN);
    if (verdict !== null) {
      settle(exchange, verdict);
      onVerdict(verdict, SIGN_IN);
    }
    if (verdict?.outcome === 'limited') return limitReached(verdict.violated);
    if (verdict?.outcome === 'banned') return REFUSALS.address_banned;
    const refusal = withMessage(REFUSALS.invalid_api_key, WRONG_KEY);
    return withHeaders(refusal, 'WWW-Authenticate', challengesOf(['bearer'], realm, ''));
  }
}

const WRONG_KEY = 'This API key is not valid. Enter another one, or ask for a new key.';

const REPLACED = withMessage(
  REFUSALS.invalid_form,
  'A newer secret replaced this one, which ends soon and may only view the key. Sign in with the newer one.',
);
const SIGNED_OUT = withMessage(REFUSALS.missing_api_key, 'Your session has ended. Sign in again with your API key.');
