import type { z } from 'zod';
import type { KeyWindows } from '../../actions/schemas.js';
import { fullNumber } from '../../pages/components/figure.js';
import { Moment } from '../../pages/components/moment.js';
import { percentUsed, Share } from '../../pages/components/share.js';
import { Table } from '../../pages/components/table.js';

type Window = z.output<typeof KeyWindows>['windows'][number];

/** Shows the window with the largest used share; nothing if no window is limited. */
export function Fullest({ windows }: { readonly windows: readonly Window[] }) {
  const [fullest] = windows.toSorted((one, other) => (percentUsed(other) ?? -1) - (percentUsed(one) ?? -1));
  if (fullest === undefined || percentUsed(fullest) === null) return <></>;
  return (
    <>
      <Share {...fullest} name={fullest.window} />
      {` of the ${fullest.window}`}
    </>
  );
}

export function Windows({ windows, caption }: { readonly windows: readonly Window[]; readonly caption: string }) {
  return (
    <Table
      caption={caption}
      empty="It is refused, so nothing is left."
      rows={windows}
      columns={[
        { head: 'Window', cell: ({ window }) => window },
        { head: 'Used', cell: (window) => <Share {...window} name={window.window} /> },
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
