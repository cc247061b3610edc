/** What of a browser this file needs: it is built with the types of Node. */
interface Element {
  innerHTML: string;
  textContent: string;
  hidden: boolean;
  readonly dataset: { readonly live: string; readonly everyMs: string };
  querySelectorAll(selector: string): Iterable<Element>;
  addEventListener(type: 'click', listener: () => void): void;
  focus(options: { readonly preventScroll: boolean }): void;
}
interface Details extends Element {
  open: boolean;
}
interface Page {
  readonly document: {
    readonly hidden: boolean;
    readonly activeElement: Element | null;
    querySelector(selector: '[data-live]' | '[data-live-state]' | '[data-live-pause]'): Element;
    addEventListener(type: 'visibilitychange', listener: () => void): void;
  };
}

const STATES: Readonly<Record<number, string>> = { 401: 'Your session has ended. Reload the page to sign in.' };
const FOCUSABLE = 'a, button, summary, [tabindex]';

/** Puts what is so now in place of what the page was sent with, every few seconds, while somebody may see it. */
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
  const focusable = (): readonly Element[] => [...part.querySelectorAll(FOCUSABLE)];
  const put = (html: string): void => {
    const opened = details().map(({ open }) => open);
    const focused = focusable().findIndex((one) => one === document.activeElement);
    part.innerHTML = html;
    for (const [n, one] of details().entries()) one.open = opened[n] ?? false;
    focusable()[focused]?.focus({ preventScroll: true });
  };
  const isWatched = (): boolean => !document.hidden && !paused;
  const refresh = async (): Promise<void> => {
    if (busy || !isWatched()) return;
    busy = true;
    try {
      const answer = await fetch(part.dataset.live, { credentials: 'same-origin', redirect: 'error' });
      const text = await answer.text();
      // It may have been paused meanwhile.
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
    pause.textContent = paused ? 'Go on' : 'Pause';
    void refresh();
  });
  setInterval(() => void refresh(), everyMs);
  document.addEventListener('visibilitychange', () => void refresh());
}

// Tests load this file in Node.
if ('document' in globalThis) follow(globalThis as unknown as Page);
