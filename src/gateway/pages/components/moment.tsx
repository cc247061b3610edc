/** A moment in UTC, to the second: `2026-11-24 09:30:00`. */
export function Moment({ at }: { readonly at: string }) {
  return <time datetime={at}>{`${at.slice(0, 10)} ${at.slice(11, 19)}`}</time>;
}
