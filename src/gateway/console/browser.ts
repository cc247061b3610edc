/** What of a browser this file needs: it is built with the types of Node. */
interface Element {
  innerHTML: string;
  textContent: string;
  hidden: boolean;
  readonly dataset: { readonly live: string; readonly everyMs: string };
}
interface Page {
  readonly document: {
    readonly hidden: boolean;
    querySelector(selector: '[data-live]' | '[data-live-state]'): Element;
    addEventListener(type: 'visibilitychange', listener: () => void): void;
  };
}

const STATES: Readonly<Record<number, string>> = { 401: 'Your session has ended. Reload the page to sign in.' };

/** Puts what is so now in place of what the page was sent with, every few seconds, while somebody may see it. */
function follow({ document }: Page): void {
  const part = document.querySelector('[data-live]');
  const state = document.querySelector('[data-live-state]');
  const everyMs = Number(part.dataset.everyMs);
  let busy = false;
  const show = (text: string): void => {
    state.textContent = text;
  };
  const refresh = async (): Promise<void> => {
    if (document.hidden || busy) return;
    busy = true;
    try {
      const answer = await fetch(part.dataset.live, { credentials: 'same-origin', redirect: 'error' });
      if (answer.ok) part.innerHTML = await answer.text();
      show(answer.ok ? '' : (STATES[answer.status] ?? `Could not refresh: the gateway returned ${answer.status}.`));
    } catch {
      show('Could not refresh: the gateway does not respond.');
    } finally {
      busy = false;
    }
  };
  setInterval(() => void refresh(), everyMs);
  document.addEventListener('visibilitychange', () => void refresh());
}

// Tests load this file in Node.
if ('document' in globalThis) follow(globalThis as unknown as Page);
