import { escapeHtml } from '../../shared/escape-html.js';

/** Requests of one day, by plan. */
export interface DayBar {
  readonly day: string;
  readonly final: boolean;
  readonly byPlan: ReadonlyMap<string, number>;
}

const WIDTH = 960;
const HEIGHT = 340;
const LEFT = 64;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 34;
const TICKS = 4;
/** Room a day's label takes along the axis. */
const LABEL_WIDTH = 76;
/** Colours the style sheet knows; more plans than that share the last. */
const COLOURS = 8;

const INNER = HEIGHT - TOP - BOTTOM;

/** An SVG of stacked bars, one per day and plan, with axes, legend and a tooltip for each day. Free of scripts. */
export function plotOf(days: readonly DayBar[]): string {
  const plans = [...new Set(days.flatMap(({ byPlan }) => [...byPlan.keys()]))].sort();
  const step = stepOf(Math.max(0, ...days.map(sumOf)));
  const highest = step * TICKS;
  const slot = (WIDTH - LEFT - RIGHT) / Math.max(days.length, 1);
  const yOf = (count: number): number => round(TOP + INNER * (1 - count / highest));
  const grid = Array.from({ length: TICKS + 1 }, (_, n) => {
    const y = yOf(n * step);
    return (
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/><text class="tick" ` +
      `x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${shortNumber(n * step)}</text>`
    );
  });
  const bars = days.map((bar, n) => barOf(bar, plans, LEFT + n * slot, slot, yOf));
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / slot));
  const labels = days.map(({ day }, n) =>
    n % every === 0
      ? `<text class="tick" x="${round(LEFT + (n + 0.5) * slot)}" y="${HEIGHT - 12}" text-anchor="middle">${day}</text>`
      : '',
  );
  return `${legendOf(days, plans)}
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Requests per day by plan">
<g>${grid.join('')}</g>
<g>${bars.join('\n')}</g>
<g>${labels.join('')}</g>
<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${yOf(0)}" y2="${yOf(0)}"/>
</svg>`;
}

function barOf(
  bar: DayBar,
  plans: readonly string[],
  left: number,
  slot: number,
  yOf: (count: number) => number,
): string {
  const width = round(Math.max(1, slot * 0.7));
  const x = round(left + (slot - width) / 2);
  let below = 0;
  const parts = plans.map((plan, index) => {
    const count = bar.byPlan.get(plan) ?? 0;
    if (count === 0) return '';
    const top = yOf(below + count);
    const height = round(yOf(below) - top);
    below += count;
    return `<rect class="c${colourOf(index)}" x="${x}" y="${top}" width="${width}" height="${height}"/>`;
  });
  const plansText = plans.flatMap((plan) =>
    bar.byPlan.has(plan) ? [`${plan} ${fullNumber(bar.byPlan.get(plan)!)}`] : [],
  );
  const perPlan = plansText.length === 0 ? '' : ` (${plansText.join(', ')})`;
  const title = `${bar.day}: ${fullNumber(sumOf(bar))}${perPlan}${bar.final ? '' : ', not final yet'}`;
  const whole = `<rect class="hover" x="${round(left)}" y="${TOP}" width="${round(slot)}" height="${INNER}"/>`;
  return (
    `<g class="${bar.final ? 'day' : 'day open'}">` + `<title>${escapeHtml(title)}</title>${whole}${parts.join('')}</g>`
  );
}

function legendOf(days: readonly DayBar[], plans: readonly string[]): string {
  const items = plans.map(
    (plan, index) => `<li><span class="swatch b${colourOf(index)}"></span>${escapeHtml(plan)}</li>`,
  );
  if (days.some(({ final }) => !final)) items.push('<li class="note">pale: the day is not final yet</li>');
  return `<ul class="legend">${items.join('')}</ul>`;
}

function colourOf(index: number): number {
  return Math.min(index, COLOURS - 1);
}

function sumOf({ byPlan }: DayBar): number {
  let sum = 0;
  for (const count of byPlan.values()) sum += count;
  return sum;
}

/** The distance of grid lines: 1, 2, 2.5 or 5 times a power of ten, whole, so that `TICKS` of them hold `highest`. */
function stepOf(highest: number): number {
  const least = Math.max(highest / TICKS, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= least && Number.isInteger(each * power)) ?? 10;
  return factor * power;
}

/** `12.5k`, for an axis. */
function shortNumber(count: number): string {
  for (const [unit, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const)
    if (count >= size) return `${String(Number((count / size).toFixed(2)))}${unit}`;
  return String(count);
}

/** `12,345` */
export function fullNumber(count: number): string {
  return count.toLocaleString('en-US');
}

function round(length: number): number {
  return Math.round(length * 100) / 100;
}
