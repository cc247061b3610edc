import type { Child } from '#jsx/jsx-runtime';
import type { WindowFigures } from '../../admission/bucket.js';
import { fullNumber } from '../../pages/components/figure.js';
import { Share } from '../../pages/components/share.js';
import { Table } from '../../pages/components/table.js';
import { lengthOf, Moment } from '../../pages/components/moment.js';
import type { Overview } from './read.js';

export function Limits({ verdict, customer }: Pick<Overview, 'verdict' | 'customer'>) {
  const { windows, atMs } = verdict;
  const ours = customer === null ? 'this key' : `${customer.name}, shared by all its keys`;
  return (
    <section>
      <h2>Limits now</h2>
      <Table<WindowFigures>
        caption={`Units of ${ours}`}
        empty="This plan has no limits."
        rows={windows}
        columns={[
          { head: 'Per', cell: ({ name }) => name },
          { head: 'Used', cell: (window) => <Share {...window} none="–" /> },
          { head: 'Limit', number: true, cell: ({ limit }) => fullNumber(limit) },
          { head: 'Left', number: true, cell: leftOf },
          { head: 'Resets', cell: (window) => resetOf(window, atMs) },
          ...(windows.some(({ granted }) => granted !== undefined) ? [GRANTED] : []),
        ]}
      />
    </section>
  );
}

const GRANTED = {
  head: 'Granted on top',
  cell: ({ granted }: WindowFigures) =>
    granted === undefined ? (
      '–'
    ) : (
      <>
        {fullNumber(granted.units)} until <Moment at={granted.untilMs} />
      </>
    ),
};

function resetOf({ per, limit, remaining, resetAtMs }: WindowFigures, nowMs: number): Child {
  if (per === 'balance') return 'never';
  if (limit === 'unlimited') return '–';
  if (remaining === limit || resetAtMs <= nowMs) return 'nothing used';
  return (
    <>
      in {lengthOf(resetAtMs - nowMs)} (<Moment at={resetAtMs} />)
    </>
  );
}

function leftOf({ limit, remaining }: WindowFigures): string {
  return limit === 'unlimited' ? 'unlimited' : fullNumber(remaining);
}
