import type { z } from 'zod';
import type { KeyWindows } from '../../actions/schemas.js';
import { percentUsed, Share } from '../../pages/components/share.js';

type Window = z.output<typeof KeyWindows>['windows'][number];

/** Shows the window with the largest used share; nothing if no window is limited. */
export function Fullest({ windows }: { readonly windows: readonly Window[] }) {
  const shares = windows.flatMap(({ window: name, limit, remaining }) => {
    const percent = percentUsed(limit, remaining);
    return percent === null ? [] : [{ name, percent }];
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
export function Used({ window: { window, limit, remaining } }: { readonly window: Window }) {
  const percent = percentUsed(limit, remaining);
  return percent === null ? <></> : <Share name={window} percent={percent} />;
}
