import type { Child } from '#jsx/jsx-runtime';

interface NoticeParts {
  /** Severity; omit it for success and information. */
  readonly level?: 'warn' | 'danger';
  /** The first paragraph. */
  readonly children: Child;
  readonly more?: Child;
}

/** A message to read first. Screen readers announce it; at level `danger` immediately. */
export function Notice({ level, children, more }: NoticeParts) {
  return (
    <div class={level === undefined ? 'notice' : `notice ${level}`} role={level === 'danger' ? 'alert' : 'status'}>
      <p>{children}</p>
      {more}
    </div>
  );
}

interface ProblemsParts {
  readonly problems: readonly string[];
  /** What they prevented. */
  readonly says?: string;
}

export function Problems({ problems, says = 'Nothing was changed:' }: ProblemsParts) {
  if (problems.length === 0) return null;
  return (
    <Notice
      level="danger"
      more={
        <ul>
          {problems.map((problem) => (
            <li>{problem}</li>
          ))}
        </ul>
      }
    >
      {says}
    </Notice>
  );
}

export function Badge({ level, children }: { readonly level?: 'good' | 'warn' | 'danger'; readonly children: Child }) {
  return <span class={level === undefined ? 'badge' : `badge ${level}`}>{children}</span>;
}
