import { CORRECTED, COUNTS } from '../../store/records/counts.js';
import type { ReportRow } from '../../usage/grouping/groups.js';
import { MONEY } from '../../usage/grouping/money-view.js';
import type { ShownReport } from '../../usage/shown-report.js';
import { labelsOf, type Dimension, type Label } from '../../usage/grouping/range.js';
import { Cards } from '../../pages/components/cards.js';
import { fullNumber, spaced } from '../../pages/components/figure.js';
import { SearchForm, SelectField, TextField } from '../../pages/components/form.js';
import { Tabs } from '../../pages/components/links.js';
import { Moment } from '../../pages/components/moment.js';
import { Badge, Notice, Problems } from '../../pages/components/notice.js';
import { addressOf } from '../../pages/components/pager.js';
import { BarPlot } from '../../pages/components/plot.js';
import { Table } from '../../pages/components/table.js';
import { withCurrency } from '../../../shared/currency.js';
import { dayOf } from '../../../shared/utc-day.js';
import type { Arranged, Arrangement } from './arrange.js';
import { barsOf, type NamedPlot } from './plot.js';

export interface UsageQuery {
  readonly [name: string]: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly by: string;
}

const CHOICES = ['customer', 'customer,plan', 'customer,day', 'plan', 'plan,day', 'key', 'key,day', 'operation', 'day'];
const PATH = '/console/usage';

/** A report with its plot and the page of its rows. */
export interface UsageReport extends Omit<ShownReport, 'rows' | 'days'> {
  readonly openFrom: string;
  readonly plot: NamedPlot;
  readonly shown: Arranged;
  /** Number of days that are still being read, and about how long that takes; 0 if not known. */
  readonly unread: number;
  readonly readInMs: number;
  /** When the days that may still grow were read; null if now, or if the range has none. */
  readonly openAtMs: number | null;
}

interface UsageParts {
  readonly query: UsageQuery;
  readonly search: string | undefined;
  readonly arrangement: Arrangement;
  readonly nowMs: number;
  /** Null if the query was refused. */
  readonly report: UsageReport | null;
  readonly problems: readonly string[];
}

export function UsageView({ query, search, arrangement, nowMs, report, problems }: UsageParts) {
  return (
    <>
      <Tabs
        label="Ranges"
        tabs={presetsAt(nowMs).map(({ label, from, to }) => ({
          ...{ label, href: addressOf(PATH, { ...query, from, to }) },
          isCurrent: from === query.from && to === query.to,
        }))}
      />
      <SearchForm action={PATH} button="Show">
        <TextField name="from" label="From" type="date" value={query.from} />
        <TextField name="to" label="To" type="date" value={query.to} />
        <SelectField name="by" label="By" choices={[...new Set([query.by, ...CHOICES])]} value={query.by} />
        <TextField name="customer" label="Customer ID or reference" value={query['customer']} />
        <TextField name="key" label="Key ID" value={query['key']} />
        <TextField name="search" label="Search in the rows" type="search" value={search} />
      </SearchForm>
      <Problems problems={problems} says="There is no such report:" />
      {report !== null && <Report {...{ query, search, arrangement, report }} />}
    </>
  );
}

function presetsAt(nowMs: number): readonly { readonly label: string; readonly from: string; readonly to: string }[] {
  const today = dayOf(nowMs);
  const [year, month] = [Number(today.slice(0, 4)), Number(today.slice(5, 7)) - 1];
  const dayAt = (months: number, day: number): string => dayOf(Date.UTC(year, month + months, day));
  return [
    { label: 'Today', from: today, to: today },
    { label: 'This month', from: dayAt(0, 1), to: dayAt(1, 0) },
    { label: 'Last month', from: dayAt(-1, 1), to: dayAt(0, 0) },
    { label: '3 months', from: dayAt(-2, 1), to: dayAt(1, 0) },
  ];
}

interface ReportParts extends Pick<UsageParts, 'query' | 'search' | 'arrangement'> {
  readonly report: UsageReport;
}

function Report({ query, search, arrangement, report }: ReportParts) {
  const labels = labelsOf({ by: query.by.split(',') as readonly Dimension[] });
  const { unread, readInMs, openAtMs } = report;
  const { count, rows, page, pages } = report.shown;
  const found = search === undefined ? 'rows' : 'matches';
  const asked = { ...query, search, sort: arrangement.sort ?? undefined };
  const pageAt = (n: number): string => addressOf(PATH, { ...asked, page: String(n) });
  return (
    <>
      <p>
        {`${query.from} to ${query.to}, days of UTC: `}
        <Badge level={report.final && unread === 0 ? 'good' : 'warn'}>
          {unread > 0 ? 'incomplete' : report.final ? 'final' : 'growing'}
        </Badge>
        {openAtMs !== null && (
          <>
            {' '}
            Days that still grow are as of <Moment at={openAtMs} />.
          </>
        )}
      </p>
      {unread > 0 && (
        <Notice level="warn">
          {`The gateway is still reading ${unread} days of the ledger. All figures below are without them. `}
          <a href={pageAt(page)}>Reload</a>
          {readInMs > 0 && ` in about ${Math.ceil(readInMs / 1000)} seconds`}
          {' to see them. CSV and JSON have every day.'}
        </Notice>
      )}
      {report.missing.map(({ gateway, host, from }) => (
        <Notice level="warn">
          {`Counts of gateway ${gateway} on ${host} from ${from} on may be missing (petgate usage gateways).`}
        </Notice>
      ))}
      <Totals report={report} />
      <p>
        <a href={addressOf(`${PATH}/report.csv`, query)}>CSV</a>{' '}
        <a href={addressOf(`${PATH}/report.json`, query)}>JSON</a>{' '}
        <a href="/console/plans/rehearse">Try other plans on a month</a>
      </p>
      <BarPlot
        label={`Units per day by ${report.plot.by}`}
        axis="Day (UTC)"
        bars={barsOf(query, report.plot, (day) => day < report.openFrom)}
        pale="still growing"
      />
      <Table
        caption={`Usage by ${query.by}: ${fullNumber(count + report.left)} ${found}`}
        empty={search === undefined ? 'Nothing was used.' : 'No matches.'}
        rows={rows}
        columns={[...labels.map((label, n) => labelColumn(label, n)), ...numberColumns(report)].map((column) => ({
          ...column,
          sort: sortOf({ ...query, search }, arrangement, column.name),
        }))}
      />
      {pages > 1 && (
        <nav aria-label="Pages of the table">
          {page > 1 && <a href={pageAt(page - 1)}>Previous page</a>}
          <span>{`Page ${page} of ${pages}`}</span>
          {page < pages && <a href={pageAt(page + 1)}>Next page</a>}
        </nav>
      )}
      {report.left > 0 && <p>{`${fullNumber(report.left)} more rows are only in the CSV file.`}</p>}
    </>
  );
}

/** The first click on a column sorts it in descending order, the second in ascending order. */
function sortOf(query: Readonly<Record<string, string | undefined>>, { sort }: Arrangement, name: string) {
  const now = sort === `-${name}` ? 'descending' : sort === name ? 'ascending' : 'none';
  return { href: addressOf(PATH, { ...query, sort: now === 'descending' ? name : `-${name}` }), now } as const;
}

function labelColumn(label: Label, index: number) {
  return {
    name: label,
    head: spaced(label),
    cell: (row: ReportRow) => row[label] ?? '',
    foot: index === 0 ? 'total' : '',
  };
}

function Totals({ report }: Pick<ReportParts, 'report'>) {
  return (
    <Cards
      label="Totals"
      cards={numberColumns(report).map(({ head, foot }) => ({ name: head, figure: foot || '–' }))}
    />
  );
}

function numberColumns({ totals }: Pick<ShownReport, 'totals'>) {
  const counts = [...COUNTS, ...('correctedUnits' in totals ? CORRECTED : [])].map((name) => ({
    name,
    head: spaced(name),
    number: true,
    cell: (row: ReportRow) => fullNumber(row[name] ?? 0),
    foot: fullNumber(totals[name] ?? 0),
  }));
  if (totals.amounts === undefined) return counts;
  const money = MONEY.map((name) => ({
    name,
    head: name,
    number: true,
    cell: (row: ReportRow) => moneyIn(row, name),
    foot: moneyIn(totals, name),
  }));
  return [...counts, ...money];
}

/** Returns the figure; without an amount, why it is unknown. */
function moneyIn(row: ReportRow, name: (typeof MONEY)[number]): string {
  const figure = row[name];
  if (figure === undefined) return name === 'amount' ? (row.unknown ?? '') : '';
  if (name === 'included' || name === 'overage') return fullNumber(figure);
  return withCurrency(figure, row.currency ?? '');
}
