import { COUNTS } from '../store/counts.js';
import { Groups, type Ledger, type ReportRow } from './groups.js';
import { fullNumber, plotOf, type DayBar } from './plot.js';
import type { Names } from './names.js';
import { isFinal, labelsOf, missingIn, type Dimension, type ReportRange } from './range.js';
import { STYLE } from './style.js';
import { escapeHtml } from '../../shared/escape-html.js';
import { daysFrom } from '../../shared/utc-day.js';

/** More rows are left to CSV: nobody reads them on a page. */
const MAX_ROWS = 1_000;
const CHOICES: readonly (readonly Dimension[])[] = [
  ['plan'],
  ['plan', 'day'],
  ['operation'],
  ['day'],
  ['customer'],
  ['customer', 'day'],
  ['key'],
  ['key', 'day'],
  ['key', 'plan', 'operation', 'day'],
];

/** The report as one HTML page, piece by piece: a plot of requests per day by plan, and the table with totals. */
export async function* reportAsPage(range: ReportRange, ledger: Ledger, names?: Names): AsyncGenerator<string, void> {
  const groups = new Groups(range);
  const perDay = new Groups({ by: ['day', 'plan'], openFrom: range.openFrom });
  const rows: ReportRow[] = [];
  let left = 0;
  const keep = (done: readonly ReportRow[]): void => {
    const room = MAX_ROWS - rows.length;
    rows.push(...done.slice(0, room));
    left += Math.max(0, done.length - room);
  };
  let answered = false;
  for await (const batch of ledger) {
    keep(groups.take(batch));
    perDay.take(batch);
    if (!answered) yield headOf(range);
    answered = true;
  }
  keep(groups.flush());
  const plot = plotOf(barsOf(range, perDay.flush()));
  yield `${answered ? '' : headOf(range)}
<h2>Requests per day by plan</h2>
<figure class="scroll">${plot}</figure>
<h2>By ${escapeHtml(range.by.join(', '))}</h2>
<div class="scroll">${tableOf(range, (await names?.added(rows)) ?? rows, groups.totals)}</div>
${left === 0 ? '' : `<p>${fullNumber(left)} more rows are not shown here: take the CSV.</p>`}
<p>requests: admitted and counted. units: what they cost. limited, banned: refused, and free. failed: of the
requests, those that ended in a 5xx.</p>
</body></html>
`;
}

function headOf(range: ReportRange): string {
  const { from, to, by } = range;
  const chosen = by.join(',');
  const names = CHOICES.map((choice) => choice.join(','));
  const options = (names.includes(chosen) ? names : [chosen, ...names]).map(
    (name) => `<option${name === chosen ? ' selected' : ''}>${escapeHtml(name)}</option>`,
  );
  const [whose, id] = range.key === undefined ? ['customer', range.customer] : ['key', range.key];
  const scope = id === undefined ? '' : `, ${whose} ${escapeHtml(id)}`;
  const part = id === undefined ? '' : `&amp;${whose}=${encodeURIComponent(id)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>Usage ${from} to ${to}</title><style>${STYLE}</style></head><body>
<h1>Usage</h1>
<p>${from} to ${to}, days of UTC${scope}. ${isFinal(range) ? 'Final.' : 'Not final: the last days still grow.'}</p>
${missingOf(range)}
<form method="get" action="/admin/usage">
<label>From<input type="date" name="from" value="${from}"></label>
<label>To<input type="date" name="to" value="${to}"></label>
<label>By<select name="by">${options.join('')}</select></label>
${id === undefined ? '' : `<input type="hidden" name="${whose}" value="${escapeHtml(id)}">`}<button>Show</button>
<a href="/admin/v1/usage?from=${from}&amp;to=${to}&amp;by=${chosen}${part}&amp;format=csv">CSV</a>
</form>`;
}

/** Says what the days wait for, and without whom some became final. */
function missingOf(range: ReportRange): string {
  const waiting = (range.waitingFor ?? []).map(
    ({ gateway, host, from, seenMs }) =>
      `<p>Days from ${from} on wait for gateway ${escapeHtml(gateway)} on ${escapeHtml(host)}, last heard ` +
      `${new Date(seenMs).toISOString()}: it may still bring counts.</p>`,
  );
  const without = missingIn(range).map(
    ({ gateway, host, from, to, seenMs }) =>
      `<p>${from} to ${to} became final without gateway ${escapeHtml(gateway)} on ${escapeHtml(host)}, last ` +
      `heard ${new Date(seenMs).toISOString()}: its counts may be missing.</p>`,
  );
  return [...waiting, ...without].join('\n');
}

/** Every day of the range, also one without traffic. */
function barsOf({ from, to, openFrom }: ReportRange, rows: readonly ReportRow[]): readonly DayBar[] {
  const byDay = new Map<string, Map<string, number>>();
  for (const day of daysFrom(from, to)) byDay.set(day, new Map());
  for (const { day = '', plan = '', requests } of rows) if (requests > 0) byDay.get(day)?.set(plan, requests);
  return [...byDay].map(([day, byPlan]) => ({ day, final: day < openFrom, byPlan }));
}

function tableOf(range: ReportRange, rows: readonly ReportRow[], totals: ReportRow): string {
  const hasDay = range.by.includes('day');
  const labels = labelsOf(range);
  const numbers = (row: ReportRow): string =>
    COUNTS.map((count) => `<td class="n">${fullNumber(row[count])}</td>`).join('');
  const body = rows.map((row) => {
    const texts = labels.map((label) => `<td>${escapeHtml(row[label] ?? '')}</td>`);
    return `<tr>${texts.join('')}${numbers(row)}${hasDay ? `<td>${finalText(row)}</td>` : ''}</tr>`;
  });
  const head = [
    ...labels.map((label) => `<th scope="col">${label}</th>`),
    ...COUNTS.map((count) => `<th scope="col" class="n">${count}</th>`),
    ...(hasDay ? ['<th scope="col">final</th>'] : []),
  ];
  const foot = labels.map((_, index) => `<td>${index === 0 ? 'total' : ''}</td>`);
  return `<table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('\n')}</tbody>
<tfoot><tr>${foot.join('')}${numbers(totals)}${hasDay ? '<td></td>' : ''}</tr></tfoot></table>`;
}

function finalText({ final, without }: ReportRow): string {
  if (final !== true) return 'no';
  return without === undefined ? 'yes' : `yes, without ${escapeHtml(without)}`;
}
