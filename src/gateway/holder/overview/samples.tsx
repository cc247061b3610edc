/** A request to try, in several languages. The key is not in it. */
export function Samples({ samples }: { readonly samples: ReadonlyMap<string, string> }) {
  return (
    <section>
      <h2>Try it</h2>
      <p class="hint">With your key in the environment variable API_KEY.</p>
      {[...samples].map(([language, text], n) => (
        <details open={n === 0}>
          <summary>{language}</summary>
          <pre>{text}</pre>
        </details>
      ))}
    </section>
  );
}
