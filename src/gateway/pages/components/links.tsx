import type { Child } from '#jsx/jsx-runtime';

interface Tab {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Links to pages of one kind. The current one is marked. */
export function Tabs({ label: of, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav aria-label={of}>
      {tabs.map(({ label, href, isCurrent }) => (
        <a href={href} aria-current={isCurrent ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

interface LinkButtonParts {
  readonly href: string;
  readonly kind?: 'main';
  readonly children: Child;
}

/** A paragraph with a link that looks like a button. */
export function LinkButton({ href, kind, children }: LinkButtonParts) {
  return (
    <p>
      <a class={kind === 'main' ? 'button main' : 'button'} href={href}>
        {children}
      </a>
    </p>
  );
}
