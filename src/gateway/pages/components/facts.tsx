import type { Child } from '#jsx/jsx-runtime';

/** Names and what they are, such as the fields of a record. What is null or false is left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: Child])[] }) {
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== null &&
          value !== false && (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
      )}
    </dl>
  );
}
