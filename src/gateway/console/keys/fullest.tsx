import type { z } from 'zod';
import type { KeyWindows } from '../../actions/schemas.js';
import { percentUsed, Share } from '../../pages/components/share.js';

type Window = z.output<typeof KeyWindows>['windows'][number];

/** Shows the window with the largest used share; nothing if no window is limited. */
export function Fullest({ windows }: { readonly windows: readonly Window[] }) {
  const shares = windows.flatMap((window) => {
    const percent = shareUsed(window);
    return percent === null ? [] : [{ name: window.window, percent }];
  });
  const [fullest] = shares.toSorted((one, other) => other.percent - one.percent);
  if (fullest === undefined) return <></>;
  return (
    <>
      <Share {...fullest} />
      {` of the ${fullest.name}`}
    </>
  );
}

/** Shows the used share of a window; nothing if it is not limited. */
export function Used({ window }: { readonly window: Window }) {
  const percent = shareUsed(window);
  return percent === null ? <></> : <Share name={window.window} percent={percent} />;
}

/** Returns the used share of a window in percent; null if it is not limited. */
export function shareUsed({ limit, remaining }: Window): number | null {
  return percentUsed(limit, remaining);
}
