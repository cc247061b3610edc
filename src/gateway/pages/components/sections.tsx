import type { Child } from '#jsx/jsx-runtime';

/** The sections of a long page, with links to them. Those without content are left out. */
export function Sections({ sections }: { readonly sections: readonly (readonly [title: string, content: Child])[] }) {
  const shown = sections.filter(([, content]) => content !== null && content !== false);
  return (
    <>
      <nav aria-label="On this page">
        {shown.map(([title]) => (
          <a href={`#${idOf(title)}`}>{title}</a>
        ))}
      </nav>
      {shown.map(([title, content]) => (
        <section id={idOf(title)}>
          <h2>{title}</h2>
          {content}
        </section>
      ))}
    </>
  );
}

function idOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}
