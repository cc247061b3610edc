import { COUNTS, CORRECTED } from '../../store/records/counts.js';
import type { ReportRow } from '../../usage/grouping/groups.js';
import type { ReadReport } from '../../usage/read-report.js';
import { labelsOf, type Dimension, type Label } from '../../usage/grouping/range.js';
import { fullNumber } from '../../pages/components/figure.js';
import { SelectField, TextField } from '../../pages/components/form.js';
import { Badge, Notice } from '../../pages/components/notice.js';
import { addressOf } from '../../pages/components/pager.js';
import { BarPlot } from '../../pages/components/plot.js';
import { Table } from '../../pages/components/table.js';
import { withCurrency } from '../../../shared/currency.js';
import { daysFrom } from '../../../shared/utc-day.js';

export interface UsageQuery {
  readonly [name: string]: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly by: string;
}

const CHOICES = ['customer', 'customer,plan', 'customer,day', 'plan', 'plan,day', 'key', 'key,day', 'operation', 'day'];
const PATH = '/console/usage';
const MONEY = ['base', 'included', 'overage', 'amount'] as const;

interface UsageParts {
  readonly query: UsageQuery;
  /** Null where the question was refused. */
  readonly report: ReadReport | null;
  readonly perDay: ReadReport | null;
  readonly problems: readonly string[];
}

export function UsageView({ query, report, perDay, problems }: UsageParts) {
  return (
    <>
      <form method="get" action={PATH} class="filter">
        <TextField name="from" label="From" type="date" value={query.from} />
        <TextField name="to" label="To" type="date" value={query.to} />
        <SelectField
          name="by"
          label="By"
          choices={[...new Set([query.by, ...CHOICES])].map((value) => ({ value, label: value }))}
          value={query.by}
        />
        <TextField name="customer" label="Customer’s id or reference" value={query['customer']} />
        <TextField name="key" label="Key’s id" value={query['key']} />
        <button class="main">Show</button>
      </form>
      {problems.length > 0 && (
        <Notice level="danger">
          {problems.map((problem) => (
            <p>{problem}</p>
          ))}
        </Notice>
      )}
      {report !== null && perDay !== null && <Report {...{ query, report, perDay }} />}
    </>
  );
}

interface ReportParts extends Pick<UsageParts, 'query'> {
  readonly report: ReadReport;
  readonly perDay: ReadReport;
}

function Report({ query, report, perDay }: ReportParts) {
  const labels = labelsOf({ by: query.by.split(',') as readonly Dimension[] });
  return (
    <>
      <p>
        {`${query.from} to ${query.to}, days of UTC: `}
        <Badge level={report.final ? 'good' : 'warn'}>{report.final ? 'final' : 'growing'}</Badge>
      </p>
      {[...report.waitingFor, ...report.without].map(({ gateway, host, from }) => (
        <Notice level="warn">
          <p>{`Counts of gateway ${gateway} on ${host} from ${from} on may be missing (petgate usage gateways).`}</p>
        </Notice>
      ))}
      <BarPlot label="Units per day by plan" axis="Day (UTC)" bars={barsOf(query, perDay)} pale="still growing" />
      <Table
        caption={`Usage by ${query.by}`}
        empty="Nothing was used."
        rows={report.rows}
        columns={[...labels.map((label, n) => labelColumn(label, n)), ...numberColumns(report)]}
      />
      {report.left > 0 && <p>{`${report.left} more rows are not shown here: take the CSV.`}</p>}
      <p>
        <a href={addressOf(`${PATH}/report.csv`, query)}>CSV</a>{' '}
        <a href={addressOf(`${PATH}/report.json`, query)}>JSON</a>{' '}
        <a href="/console/plans/rehearse">Try other plans on a month</a>
      </p>
    </>
  );
}

function labelColumn(label: Label, index: number) {
  return { head: wordsOf(label), cell: (row: ReportRow) => row[label] ?? '', foot: index === 0 ? 'total' : '' };
}

function numberColumns({ totals }: ReadReport) {
  const counts = [...COUNTS, ...('correctedUnits' in totals ? CORRECTED : [])].map((name) => ({
    head: wordsOf(name),
    number: true,
    cell: (row: ReportRow) => fullNumber(row[name] ?? 0),
    foot: fullNumber(totals[name] ?? 0),
  }));
  if (totals.amounts === undefined) return counts;
  const money = MONEY.map((name) => ({
    head: name,
    number: true,
    cell: (row: ReportRow) => moneyIn(row, name),
    foot: moneyIn(totals, name),
  }));
  return [...counts, ...money];
}

/** `correctedUnits` as `corrected units`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Where there is no figure, why. */
function moneyIn(row: ReportRow, name: (typeof MONEY)[number]): string {
  const figure = row[name];
  if (figure === undefined) return name === 'amount' ? (row.unknown ?? '') : '';
  if (name === 'included' || name === 'overage') return fullNumber(figure);
  return withCurrency(figure, row.currency ?? '');
}

/** Every day of the range, also one without traffic. */
function barsOf({ from, to }: UsageQuery, { rows }: ReadReport) {
  const byDay = new Map<string, Map<string, number>>();
  for (const day of daysFrom(from, to)) byDay.set(day, new Map());
  const final = new Set(rows.flatMap(({ day, final: isFinal }) => (isFinal === true ? [day] : [])));
  for (const { day = '', plan = '', units } of rows) if (units > 0) byDay.get(day)?.set(plan, units);
  return [...byDay].map(([label, parts]) => ({ label, parts, pale: parts.size > 0 && !final.has(label) }));
}
