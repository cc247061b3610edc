import { z } from 'zod';
import { DAY_MS, dayOf } from '../../../shared/utc-day.js';
import { forEachCount } from '../../store/records/counts.js';
import type { dayLimit } from '../../pages/components/day-limit.js';
import { BarPlot } from '../../pages/components/plot.js';
import { addressOf } from '../../pages/components/pager.js';
import { CONSOLE, type Visit } from '../page.js';

/** Number of days shown, including today. */
const DAYS = 31;
const REPORT = 'GET /admin/v1/usage';
const MAX_CHARACTERS = 4 * 1024 * 1024;

const daily = z.object({
  rows: z.array(z.object({ day: z.string(), ...forEachCount(z.int()) })),
});

/** Shows the daily usage of a key or customer; null if the visitor may not see it. */
export async function dailyUsage(
  { api, nowMs }: Visit,
  whose: { readonly key: string } | { readonly customer: string },
  limit?: ReturnType<typeof dayLimit>,
) {
  if (!api.may(REPORT)) return null;
  const [from, to] = [dayOf(nowMs - (DAYS - 1) * DAY_MS), dayOf(nowMs)];
  const query = { ...whose, from, to, by: 'day', format: 'json', names: 'false', amounts: 'false' };
  const answer = await api.answer(REPORT, { query });
  const { rows } = daily.parse(JSON.parse(await textOf(answer)));
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return (
    <section>
      <h2>Usage</h2>
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
    </section>
  );
}

async function textOf(answer: Awaited<ReturnType<Visit['api']['answer']>>): Promise<string> {
  if (answer === undefined || !('chunks' in answer)) throw new Error('the usage report is not a stream');
  let text = '';
  for await (const chunk of answer.chunks) {
    text += chunk.toString();
    if (text.length > MAX_CHARACTERS) throw new Error(`the usage report has more than ${MAX_CHARACTERS} characters`);
  }
  return text;
}
