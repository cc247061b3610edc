import type { z } from 'zod';
import type { KeyWindows } from '../../actions/schemas.js';

type Window = z.output<typeof KeyWindows>['windows'][number];

/** The window with the largest share used, as a bar and in percent; nothing if no window is limited. */
export function Fullest({ windows }: { readonly windows: readonly Window[] }) {
  const shares = windows.map((window) => ({ name: window.window, percent: percentUsed(window) }));
  const [fullest] = shares.toSorted((one, other) => other.percent - one.percent);
  if (fullest === undefined || fullest.percent < 0) return <></>;
  const { name, percent } = fullest;
  return (
    <>
      <Share name={name} percent={percent} />
      {` of the ${name}`}
    </>
  );
}

/** The used share of a window; nothing if it is not limited. */
export function Used({ window }: { readonly window: Window }) {
  const percent = percentUsed(window);
  return percent < 0 ? <></> : <Share name={window.window} percent={percent} />;
}

function Share({ name, percent }: { readonly name: string; readonly percent: number }) {
  return (
    <>
      <meter min={0} max={100} high={80} value={percent} aria-label={`Used of the ${name}`} />
      {` ${percent} %`}
    </>
  );
}

/** Rounded down, so that 100 % means nothing is left; -1 without a limit. */
function percentUsed({ limit, remaining }: Window): number {
  if (typeof limit !== 'number' || remaining === null) return -1;
  return limit === 0 ? 100 : Math.floor((100 * (limit - remaining)) / limit);
}
