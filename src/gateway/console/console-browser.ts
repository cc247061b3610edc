/** The parts of the DOM that this file uses: it is compiled with the types of Node. */
interface Element {
  innerHTML: string;
  textContent: string;
  hidden: boolean;
  readonly tagName: string;
  readonly dataset: { readonly live: string; readonly everyMs: string };
  getAttribute(name: 'aria-label'): string | null;
  querySelectorAll(selector: string): Iterable<Element>;
  addEventListener(type: 'click', listener: () => void): void;
  focus(options: { readonly preventScroll: boolean }): void;
}
interface Details extends Element {
  open: boolean;
}
interface Page {
  /** Absent without TLS, except on localhost. */
  readonly navigator: { readonly clipboard?: { writeText(text: string): Promise<void> } };
  readonly document: {
    readonly hidden: boolean;
    readonly activeElement: Element | null;
    querySelector(selector: '[data-live]' | '[data-live-state]' | '[data-live-pause]'): Element;
    querySelector(selector: '[data-copy]' | '.secret'): Element | null;
    addEventListener(type: 'visibilitychange', listener: () => void): void;
  };
}

const STATES: Readonly<Record<number, string>> = { 401: 'Your session has ended. Reload the page to sign in.' };
const FOCUSABLE = 'a, button, summary, [tabindex]';

/** Identifies an element across refreshes: by its label if it has one, because its text may change. */
function nameOf(element: Element): string {
  return `${element.tagName} ${element.getAttribute('aria-label') ?? element.textContent}`;
}

/** Refreshes the live part of the page every few seconds while it is visible and not paused. */
function follow({ document }: Page): void {
  const part = document.querySelector('[data-live]');
  const state = document.querySelector('[data-live-state]');
  const pause = document.querySelector('[data-live-pause]');
  const everyMs = Number(part.dataset.everyMs);
  let [busy, paused] = [false, false];
  const show = (text: string): void => {
    state.textContent = text;
  };
  const details = (): readonly Details[] => [...(part.querySelectorAll('details') as Iterable<Details>)];
  const summaryOf = (one: Details): string => [...one.querySelectorAll('summary')].map(nameOf).join();
  const focusable = (): readonly Element[] => [...part.querySelectorAll(FOCUSABLE)];
  const put = (html: string): void => {
    const opened = new Set(details().flatMap((one) => (one.open ? summaryOf(one) : [])));
    const focused = focusable().find((one) => one === document.activeElement);
    const name = focused && nameOf(focused);
    part.innerHTML = html;
    for (const one of details()) one.open = opened.has(summaryOf(one));
    focusable()
      .find((one) => nameOf(one) === name)
      ?.focus({ preventScroll: true });
  };
  const isWatched = (): boolean => !document.hidden && !paused;
  const refresh = async (): Promise<void> => {
    if (busy || !isWatched()) return;
    busy = true;
    try {
      const answer = await fetch(part.dataset.live, { credentials: 'same-origin', redirect: 'error' });
      const text = await answer.text();
      // The visitor may have paused it meanwhile.
      if (answer.ok && isWatched()) put(text);
      show(answer.ok ? '' : (STATES[answer.status] ?? `Could not refresh: the gateway returned ${answer.status}.`));
    } catch {
      show('Could not refresh: the gateway does not respond.');
    } finally {
      busy = false;
    }
  };
  pause.hidden = false;
  pause.addEventListener('click', () => {
    paused = !paused;
    pause.textContent = paused ? 'Resume' : 'Pause';
    void refresh();
  });
  setInterval(() => void refresh(), everyMs);
  document.addEventListener('visibilitychange', () => void refresh());
}

/** Shows the button that copies the secret of the page. */
function offerCopy({ document, navigator: { clipboard } }: Page): void {
  const button = document.querySelector('[data-copy]');
  const secret = document.querySelector('.secret');
  if (button === null || secret === null || clipboard === undefined) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const show = (text: string): void => void (button.textContent = text);
    clipboard.writeText(secret.textContent).then(
      () => show('Copied'),
      () => show('Could not copy: select it and copy it by hand'),
    );
  });
}

// Tests load this file in Node.
if ('document' in globalThis) {
  const page = globalThis as unknown as Page;
  offerCopy(page);
  if ((page.document.querySelector('[data-live]') as Element | null) !== null) follow(page);
}
