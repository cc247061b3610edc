import type { IncomingMessage, ServerResponse } from 'node:http';
import { readActor } from '../admin/access/actor.js';
import { rolesFor } from '../actions/access/roles.js';
import { AdminRefusal } from '../actions/answer.js';
import type { MountedAnswer } from '../admin/send.js';
import { forClient } from '../admin/gone.js';
import type { AdminCore, Mount, MountOf } from '../admin/mount.js';
import { shareRefused } from '../observe/shared-refused.js';
import { Form, InvalidForm, readFields, readForm } from '../pages/form.js';
import { isOwnOrigin } from '../pages/origin.js';
import { PAGE_HEADERS } from '../pages/headers.js';
import { isOwnForm } from '../pages/session.js';
import { Submissions } from '../pages/submissions.js';
import { DailyUsage } from '../usage/daily/daily.js';
import { DayFiles } from '../usage/daily/day-files.js';
import { AdminApi, notFor } from './visit/api.js';
import { FILES, LIVE_SCRIPT } from './files.js';
import { History } from './figures/history.js';
import { SharedPoints } from './figures/shared.js';
import { Samples } from './figures/samples.js';
import { createFinder, type FoundPage } from './find.js';
import { framed } from './frame.js';
import { CONSOLE, type PageAnswer, type Visit } from './visit/page.js';
import { PAGES } from './pages.js';
import { Refused, refusalTitle } from './refused.js';
import { isSecure, sessionCookie, SignIn, type SignedIn } from './visit/sessions.js';

const NO_FORM = new Form();
const MAX_SUBMISSION = 64;

/**
 * Returns the console, to be mounted at /console.
 * @param folder the data folder, in which the plots' figures survive a restart; null: they do not
 * @param now Unix ms
 */
export function createConsole(folder: string | null, now: () => number = Date.now): MountOf {
  return (core) => {
    // The embedded store is read in seconds, and its revision does not survive a restart.
    const files = folder === null || core.parts.engine.name === 'embedded' ? undefined : new DayFiles(folder);
    const daily = new DailyUsage({ ...core.parts, files });
    if (folder !== null) daily.keep();
    const notes = core.parts.engine.failover?.notes;
    return new Console(core, now, new History(folder, notes === undefined ? null : new SharedPoints(notes)), daily);
  };
}

class Console implements Mount {
  readonly path = CONSOLE;
  readonly #core: AdminCore;
  readonly #now: () => number;
  readonly #sessions: SignIn;
  readonly #submissions = new Submissions<PageAnswer>();
  readonly #find = createFinder(PAGES);
  readonly #samples: Samples;
  readonly #daily: DailyUsage;

  constructor(core: AdminCore, now: () => number, history: History, daily: DailyUsage) {
    this.#core = core;
    this.#now = now;
    this.#sessions = new SignIn(core);
    this.#daily = daily;
    this.#samples = new Samples(() => this.#read(), now, history);
  }

  /** Reads the metrics, and tells the other gateways whom this one refused most. */
  #read(): Promise<string> {
    const { metrics, recall, engine } = this.#core.parts;
    const notes = engine.failover?.notes;
    if (notes !== undefined)
      void recall({ topRefused: true })
        .then(({ refused }) => shareRefused(notes, refused, this.#now()))
        // The next sample tries again.
        .catch(() => undefined);
    return metrics();
  }

  async handle(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<MountedAnswer> {
    const { path, search } = partsOf(request);
    if (path === CONSOLE) return redirect(`${CONSOLE}/`);
    const file = FILES.get(path);
    if (file !== undefined) return { status: 200, headers: file.headers, body: file.body };
    const visitor = await this.#sessions.resume(request, this.#now());
    const found = this.#findFor(visitor, request, path);
    if (request.method === 'POST' && !isOwn(request)) throw forged();
    try {
      const form = request.method === 'POST' ? readForm(request.headers['content-type'], body) : NO_FORM;
      const answer = await this.#answer(request, found, visitor, { form, query: readFields(search), response });
      return this.#written(request, found, visitor, answer);
    } catch (error) {
      throw error instanceof InvalidForm ? new AdminRefusal(400, 'invalid_form', error.message) : error;
    }
  }

  async refuse(request: IncomingMessage, refusal: AdminRefusal): Promise<MountedAnswer> {
    const { path } = partsOf(request);
    const isGet = request.method === 'GET' || request.method === 'HEAD';
    const visitor = await this.#sessions.resume(request, this.#now()).catch(() => null);
    const text = framed({
      ...{ title: refusalTitle(refusal), path, pages: PAGES, visitor },
      // A link on another site sends no cookie (SameSite=Strict); the browser sends it when it reloads this page.
      again: refusal.status === 401 && isGet && request.headers['sec-fetch-site'] === 'cross-site',
      children: Refused({ refusal, to: isGet ? (request.url ?? '') : '', signedIn: visitor !== null }),
    });
    return { status: refusal.status, headers: { ...PAGE_HEADERS, ...refusal.headers }, body: text };
  }

  /** Visitors who are not signed in must not learn which pages exist. */
  #findFor(visitor: SignedIn | null, request: IncomingMessage, path: string): FoundPage {
    const { method = 'GET' } = request;
    let found: FoundPage | null = null;
    try {
      found = this.#find(method, path);
    } catch (error) {
      if (visitor !== null) throw error;
    }
    if (found?.page.role === 'open') return found;
    if (visitor === null || found === null) throw signedOut();
    if (!rolesFor(found.page.role).includes(visitor.caller.role)) throw notFor(visitor.caller, found.page.role);
    return found;
  }

  async #answer(
    request: IncomingMessage,
    { page, id, part }: FoundPage,
    visitor: SignedIn | null,
    { response, ...fields }: Pick<Visit, 'form' | 'query'> & { readonly response: ServerResponse },
  ): Promise<PageAnswer> {
    const nowMs = this.#now();
    if (page.role === 'open') {
      const address = request.socket.remoteAddress;
      const formToken = visitor?.formToken ?? null;
      return page.serve({ ...fields, nowMs, sessions: this.#sessions, address, formToken });
    }
    const { caller, formToken } = visitor!;
    const { tokens } = this.#core;
    const parts = forClient(this.#core.parts, response);
    const api = new AdminApi({ parts, tokens }, caller, readActor(request, caller));
    const guard = (): ReturnType<Visit['guard']> => ({ formToken, submission: this.#submissions.newId() });
    const visit: Visit = {
      ...{ ...fields, parts, api, caller, id, part, guard, nowMs },
      ...{ on: page.path.slice(CONSOLE.length), problems: [], samples: this.#samples, daily: this.#daily },
    };
    const serve = async (): Promise<PageAnswer> => page.serve(visit);
    return page.method === 'GET' ? serve() : this.#once(visit, visitor!, serve);
  }

  /** Performs a form once, however often the browser sends it. */
  async #once({ form, nowMs }: Visit, visitor: SignedIn, serve: () => Promise<PageAnswer>): Promise<PageAnswer> {
    if (!isOwnForm(visitor, form.text('form'))) throw forged();
    const submission = form.text('submission').slice(0, MAX_SUBMISSION);
    if (submission === '') throw forged();
    const name = `${visitor.formToken} ${submission}`;
    const answer = await this.#submissions.once(name, nowMs, serve);
    if (answer === null)
      throw new AdminRefusal(
        409,
        'sent_before',
        'This form was already submitted and processed. Go back and reload the page.',
      );
    // The form had no effect, so it may be sent again after correction.
    if ('status' in answer && (answer.status ?? 200) >= 400) this.#submissions.release(name);
    return answer;
  }

  #written(request: IncomingMessage, { page }: FoundPage, visitor: SignedIn | null, answer: PageAnswer): MountedAnswer {
    const renewed = page.unattended === true ? null : (visitor?.renewed() ?? null);
    const session = ('to' in answer ? answer.session : undefined) ?? renewed;
    const cookie = session === null ? {} : { 'Set-Cookie': sessionCookie(request, session) };
    if ('to' in answer) return redirect(answer.to, cookie);
    if ('content' in answer) {
      const { content, title = page.title, status = 200, live = false } = answer;
      const script = live ? LIVE_SCRIPT : undefined;
      const { path } = partsOf(request);
      const text = framed({ title, path, pages: PAGES, visitor, script, children: content });
      return { status, headers: { ...PAGE_HEADERS, ...cookie }, body: text };
    }
    const headers = { ...PAGE_HEADERS, ...cookie, 'Content-Type': answer.type };
    if ('text' in answer) return { status: 200, headers, body: answer.text };
    return { status: 200, headers: { ...headers, ...answer.headers }, body: answer.chunks };
  }
}

function partsOf({ url = '' }: IncomingMessage): { readonly path: string; readonly search: string } {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) };
}

function redirect(to: string, headers: MountedAnswer['headers'] = {}): MountedAnswer {
  return { status: 303, headers: { ...PAGE_HEADERS, ...headers, Location: to }, body: '' };
}

/** Returns whether a page of this origin sent the form. Only Sec-Fetch-Site works behind a proxy that changes Host. */
function isOwn(request: IncomingMessage): boolean {
  const { 'sec-fetch-site': site, origin = null, host = null } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  return isOwnOrigin(origin, host, isSecure(request));
}

function forged(): AdminRefusal {
  return new AdminRefusal(
    403,
    'forged_form',
    'This form did not come from a page of this console in your session, so nothing was done. Open the page again, ' +
      'and send the form from there.',
  );
}

function signedOut(): AdminRefusal {
  return new AdminRefusal(401, 'signed_out', 'Sign in with an admin token.', {
    'WWW-Authenticate': 'Bearer realm="petgate-admin"',
  });
}
