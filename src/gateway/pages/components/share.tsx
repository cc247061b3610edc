interface ShareParts {
  /** Of the window. */
  readonly name: string;
  /** What was used of its limit, 0 to 100. */
  readonly percent: number;
}

/** The used share of a window, as a bar and in percent. */
export function Share({ name, percent }: ShareParts) {
  return (
    <>
      <meter min={0} max={100} high={80} value={percent} aria-label={`Used of the ${name}`} />
      {` ${percent} %`}
    </>
  );
}

/** The used share in percent, rounded down so that 100 % means nothing is left; null without a limit. */
export function percentUsed(limit: number | 'unlimited', remaining: number | null): number | null {
  if (limit === 'unlimited' || remaining === null) return null;
  return limit === 0 ? 100 : Math.floor((100 * (limit - remaining)) / limit);
}
