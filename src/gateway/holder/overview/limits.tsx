import type { WindowFigures } from '../../admission/bucket.js';
import { fullNumber } from '../../pages/components/figure.js';
import { percentUsed, Share } from '../../pages/components/share.js';
import { Table } from '../../pages/components/table.js';
import { lengthOf, Moment } from '../../pages/components/moment.js';
import type { Overview } from './read.js';

/** The current figures of each limit. */
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
          { head: 'Used', cell: usedOf },
          { head: 'Limit', number: true, cell: ({ limit }) => figureOf(limit) },
          { head: 'Left', number: true, cell: leftOf },
          { head: 'Resets', cell: (window) => <Reset window={window} nowMs={atMs} /> },
          ...(windows.some(({ granted }) => granted !== undefined) ? [GRANTED] : []),
        ]}
      />
    </section>
  );
}

const GRANTED = {
  head: 'Granted on top',
  cell: ({ granted }: WindowFigures) => <Granted granted={granted} />,
};

function Reset({
  window: { per, limit, remaining, resetAtMs },
  nowMs,
}: {
  readonly window: WindowFigures;
  readonly nowMs: number;
}) {
  if (per === 'balance') return <>never</>;
  if (limit === 'unlimited' || remaining === limit || resetAtMs <= nowMs)
    return <>{limit === 'unlimited' ? '–' : 'nothing used'}</>;
  return (
    <>
      in {lengthOf(resetAtMs - nowMs)} (<Moment at={resetAtMs} />)
    </>
  );
}

function Granted({ granted }: { readonly granted: WindowFigures['granted'] | undefined }) {
  if (granted === undefined) return <>–</>;
  return (
    <>
      {fullNumber(granted.units)} until <Moment at={granted.untilMs} />
    </>
  );
}

function usedOf({ name, limit, remaining }: WindowFigures) {
  const percent = percentUsed(limit, remaining);
  return percent === null ? <>–</> : <Share name={name} percent={percent} />;
}

function figureOf(limit: WindowFigures['limit']): string {
  return limit === 'unlimited' ? 'unlimited' : fullNumber(limit);
}

function leftOf({ limit, remaining }: WindowFigures): string {
  return limit === 'unlimited' ? 'unlimited' : fullNumber(remaining);
}
