import type { Child } from '#jsx/jsx-runtime';
import type { WindowFigures } from '../../admission/bucket.js';

interface Used extends Pick<WindowFigures, 'limit'> {
  /** Null without a limit. */
  readonly remaining: number | null;
}

/** The used share of a window, as a bar and in percent. Without a limit, shows `none`. */
export function Share({ name, none, ...used }: Used & { readonly name: string; readonly none?: Child }) {
  const percent = percentUsed(used);
  return percent === null ? <>{none}</> : <PercentBar name={name} percent={percent} />;
}

interface PercentBarParts {
  /** What the share is of. */
  readonly name: string;
  /** May be above 100. */
  readonly percent: number;
}

export function PercentBar({ name, percent }: PercentBarParts) {
  return (
    <>
      <meter min={0} max={100} high={80} value={percent} aria-label={`Used of the ${name}`} />
      {` ${percent} %`}
    </>
  );
}

/** The used share in percent, rounded down so that 100 % means nothing is left; null without a limit. */
export function percentUsed({ limit, remaining }: Used): number | null {
  if (limit === 'unlimited' || remaining === null) return null;
  return limit === 0 ? 100 : Math.floor((100 * (limit - remaining)) / limit);
}
