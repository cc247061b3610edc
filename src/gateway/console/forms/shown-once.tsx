import type { Child } from '#jsx/jsx-runtime';
import { LinkButton } from '../../pages/components/links.js';
import { Notice } from '../../pages/components/notice.js';

interface ShownOnceParts {
  readonly secret: string;
  readonly href: string;
  readonly link: string;
  readonly children?: Child;
}

/** Shows a new key or admin token. It cannot be shown again. */
export function ShownOnce({ secret, href, link, children }: ShownOnceParts) {
  return (
    <>
      <Notice level="warn">It is shown only this once. Copy it now, and send it over a private channel.</Notice>
      <pre class="secret">{secret}</pre>
      <p>
        <button hidden type="button" data-copy={true}>
          Copy
        </button>
      </p>
      {children}
      <LinkButton href={href}>{link}</LinkButton>
    </>
  );
}
