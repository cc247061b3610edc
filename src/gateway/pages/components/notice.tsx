import type { Child } from '#jsx/jsx-runtime';

interface NoticeParts {
  /** How much it matters; left out: something went well, or is good to know. */
  readonly level?: 'warn' | 'danger';
  readonly children: Child;
}

/** Something to be read first; a screen reader says it at once. */
export function Notice({ level, children }: NoticeParts) {
  return (
    <div class={level === undefined ? 'notice' : `notice ${level}`} role={level === 'danger' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** All that is wrong with a form. */
export function Problems({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <Notice level="danger">
      <p>Nothing was changed:</p>
      <ul>
        {problems.map((problem) => (
          <li>{problem}</li>
        ))}
      </ul>
    </Notice>
  );
}

export function Badge({ level, children }: { readonly level?: 'good' | 'warn' | 'danger'; readonly children: Child }) {
  return <span class={level === undefined ? 'badge' : `badge ${level}`}>{children}</span>;
}
