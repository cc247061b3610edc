import { BarPlot, dayLimit } from '../../pages/components/plot.js';
import { fullNumber } from '../../pages/components/figure.js';
import { Table } from '../../pages/components/table.js';
import { addCounts, netUnits, noCounts, type UsageCounts } from '../../store/records/counts.js';
import { DAYS, type Overview } from './read.js';

export function Usage({ usage, verdict: { windows } }: Pick<Overview, 'usage' | 'verdict'>) {
  const days = [...usage];
  const [today = ''] = days.at(-1) ?? [];
  const bars = days.map(([day, operations]) => ({
    label: day,
    pale: day === today,
    parts: new Map(
      [...operations].map(([name, counts]) => [name, netUnits(counts)] as const).filter(([, net]) => net > 0),
    ),
  }));
  const sums = [...sumsOf(usage)].sort(([, one], [, other]) => netUnits(other) - netUnits(one));
  const total = noCounts();
  for (const [, counts] of sums) addCounts(total, counts);
  const column = (head: string, count: keyof UsageCounts) => ({
    ...{ head, number: true, foot: fullNumber(total[count]) },
    cell: ([, counts]: (typeof sums)[number]) => fullNumber(counts[count]),
  });
  return (
    <section>
      <h2>Usage</h2>
      {sums.length > 0 && (
        <BarPlot
          label={`Units of the last ${DAYS} days, by operation`}
          axis="Day (UTC)"
          bars={bars}
          pale="today, still growing"
          limit={dayLimit(windows)}
        />
      )}
      <Table
        caption={`The last ${DAYS} days, by operation`}
        empty={`Nothing was asked in the last ${DAYS} days.`}
        rows={sums}
        columns={[
          { head: 'Operation', cell: ([name]) => <code>{name}</code>, foot: 'All' },
          column('Requests', 'requests'),
          {
            ...{ head: 'Units', number: true, foot: fullNumber(netUnits(total)) },
            cell: ([, counts]) => fullNumber(netUnits(counts)),
          },
          column('Refused: limit', 'limited'),
          column('Refused: ban', 'banned'),
          column('Failed', 'failed'),
        ]}
      />
    </section>
  );
}

function sumsOf(usage: Overview['usage']): ReadonlyMap<string, UsageCounts> {
  const sums = new Map<string, ReturnType<typeof noCounts>>();
  for (const operations of usage.values()) {
    for (const [name, counts] of operations) {
      const sum = sums.get(name) ?? noCounts();
      addCounts(sum, counts);
      sums.set(name, sum);
    }
  }
  return sums;
}
