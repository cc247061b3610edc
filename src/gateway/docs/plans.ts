import type { Limit } from '../admission/bucket.js';
import type { Plan, Plans } from '../admission/plan.js';
import { EVERY_OPERATION } from '../admission/windows.js';
import { escapeHtml } from '../../shared/escape-html.js';
import { costText, figure } from './figures.js';

export function plansSection(plans: Plans): string {
  const rows = [...plans.values()]
    .filter(({ retired }) => retired !== true)
    .map(
      (plan) =>
        `<tr><td>${escapeHtml(capitalized(plan.name))}</td>${limitCells(plan)}<td>${operationsText(plan)}</td>` +
        `<td>${banText(plan)}</td></tr>`,
    );
  return `<section id="plans"><h2>Plans and limits</h2><div class="scroll"><table>
<thead><tr><th>Plan</th><th>Requests per minute</th><th>Requests per day (UTC)</th><th>Requests per month (UTC)</th>
<th>Single operations</th><th>Ban</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function limitCells({ limits }: Plan): string {
  const cell = (limit: Limit | 'custom' | '–'): string => `<td class="number">${figure(limit)}</td>`;
  if (limits === 'custom') return cell('custom').repeat(3);
  return cell(limits.minute) + cell(limits.day) + cell(limits.month ?? '–');
}

/** `createPet: 5 units, 10 per minute` */
function operationsText({ operations }: Plan): string {
  const texts = [...(operations ?? [])].flatMap(([id, { cost, windows }]) => {
    const parts = windows.map(({ per, limit }) => `${figure(limit)} per ${per}`);
    if (cost !== null) parts.unshift(costText(cost));
    return id === EVERY_OPERATION ? [] : [`<code>${escapeHtml(id)}</code>: ${parts.join(', ')}`];
  });
  return texts.length === 0 ? '–' : texts.join('<br>');
}

function banText({ ban }: Plan): string {
  return (
    `after ${ban.after} refusals in ${duration(ban.withinMs)}: ${duration(ban.forMs)}, then ×${ban.factor}, at ` +
    `most ${duration(ban.capMs)}`
  );
}

const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? UNITS[3];
  return `${ms / size} ${unit}`;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
