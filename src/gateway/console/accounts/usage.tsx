import { DAY_MS, dayOf } from '../../../shared/utc-day.js';
import { BarPlot, type dayLimit } from '../../pages/components/plot.js';
import { addressOf } from '../../pages/components/pager.js';
import type { ReportRow } from '../../usage/grouping/groups.js';
import { CONSOLE, type Visit } from '../visit/page.js';
import { reportFor } from '../visit/report.js';

/** Number of days shown, including today. */
const DAYS = 31;
const REPORT = 'GET /admin/v1/usage';

/** Shows the daily usage of a key or customer; null if the visitor may not see it. */
export async function dailyUsage(
  visit: Visit,
  whose: { readonly key: string } | { readonly customer: string },
  limit?: ReturnType<typeof dayLimit>,
) {
  const { api, nowMs } = visit;
  if (!api.may(REPORT)) return null;
  const [from, to] = [dayOf(nowMs - (DAYS - 1) * DAY_MS), dayOf(nowMs)];
  const report = await reportFor(visit, { ...whose, from, to, by: 'day' });
  const byDay = new Map<string | undefined, ReportRow>();
  for await (const rows of report.rows) for (const row of rows) byDay.set(row.day, row);
  return (
    <>
      <BarPlot
        label={`Requests by day, ${from} to ${to}`}
        axis="Day (UTC)"
        pale="may still grow"
        limit={limit}
        bars={Array.from({ length: DAYS }, (_, n) => {
          const day = dayOf(nowMs - (DAYS - 1 - n) * DAY_MS);
          const { requests = 0, limited = 0, banned = 0 } = byDay.get(day) ?? {};
          const parts = new Map(Object.entries({ admitted: requests, limited, banned }));
          return { label: day.slice(5), parts, pale: day === to };
        })}
      />
      <p>
        <a href={addressOf(`${CONSOLE}/usage`, { ...whose, by: 'operation,day' })}>By operation and day</a>
      </p>
    </>
  );
}
