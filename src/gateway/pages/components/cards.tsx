import type { Child } from '#jsx/jsx-runtime';

interface Card {
  readonly name: string;
  readonly figure: Child;
  readonly more?: Child;
}

/** Figures in large type, each with its name. */
export function Cards({ label, cards }: { readonly label: string; readonly cards: readonly Card[] }) {
  return (
    <ul class="cards" aria-label={label}>
      {cards.map(({ name, figure, more }) => (
        <li>
          <span class="soft">{name}</span>
          <span class="figure">{figure}</span>
          {more}
        </li>
      ))}
    </ul>
  );
}
