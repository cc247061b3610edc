import type { z } from 'zod';
import type { KeyWindows } from '../../actions/schemas.js';
import { fullNumber } from '../../pages/components/figure.js';
import { Moment } from '../../pages/components/moment.js';
import { percentUsed, Share } from '../../pages/components/share.js';
import { Table } from '../../pages/components/table.js';

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

interface WindowsParts {
  readonly windows: readonly Window[];
  readonly caption: string;
}

/** Shows what is left of each window. */
export function Windows({ windows, caption }: WindowsParts) {
  return (
    <Table
      caption={caption}
      empty="It is refused, so nothing is left."
      rows={windows}
      columns={[
        { head: 'Window', cell: ({ window }) => window },
        { head: 'Used', cell: (window) => <Used window={window} /> },
        { head: 'Limit', number: true, cell: ({ limit }) => fullNumber(limit) },
        {
          head: 'Remaining',
          number: true,
          cell: ({ remaining }) => (remaining === null ? 'unlimited' : fullNumber(remaining)),
        },
        { head: 'Resets', cell: ({ reset }) => (reset === null ? 'never' : <Moment at={reset} />) },
      ]}
    />
  );
}

/** Shows the used share of a window; nothing if it is not limited. */
function Used({ window }: { readonly window: Window }) {
  const percent = shareUsed(window);
  return percent === null ? <></> : <Share name={window.window} percent={percent} />;
}

/** Returns the used share of a window in percent; null if it is not limited. */
export function shareUsed({ limit, remaining }: Window): number | null {
  return percentUsed(limit, remaining);
}
