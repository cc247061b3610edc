import type { Plan, Plans } from '../admission/plan.js';
import { EVERY_OPERATION } from '../admission/windows.js';
import { fullNumber } from '../pages/components/figure.js';
import { lengthOf } from '../pages/components/moment.js';
import { costText } from './figures.js';
import { markup, type Markup } from './markup.js';

export function plansSection(plans: Plans): Markup {
  const rows = [...plans.values()].filter(({ retired }) => retired !== true).map(row);
  return markup`<section id="plans"><h2>Plans and limits</h2><div class="scroll" tabindex="0"><table>
<thead><tr><th>Plan</th><th>Requests per minute</th><th>Requests per day (UTC)</th><th>Requests per month (UTC)</th>
<th>Single operations</th><th>Ban</th></tr></thead>
<tbody>${rows}</tbody></table></div></section>`;
}

function row(plan: Plan): Markup {
  const { name, limits, ban } = plan;
  const [minute, day, month] =
    limits === 'custom' ? [limits, limits, limits] : [limits.minute, limits.day, limits.month];
  const cells = [minute, day, month ?? '–'].map((limit) => markup`<td class="number">${fullNumber(limit)}</td>`);
  return markup`<tr><td>${name.charAt(0).toUpperCase() + name.slice(1)}</td>${cells}<td>${operationsOf(plan)}</td>
<td>after ${ban.after} refusals in ${lengthOf(ban.withinMs)}: ${lengthOf(ban.forMs)}, then ×${ban.factor}, at most
${lengthOf(ban.capMs)}</td></tr>`;
}

/** `createPet: 5 units, 10 per minute` */
function operationsOf({ operations }: Plan): Markup {
  const own = [...(operations ?? [])].filter(([id]) => id !== EVERY_OPERATION);
  const lines = own.map(([id, { cost, windows }]) => {
    const limits = windows.map(({ per, limit }) => `${fullNumber(limit)} per ${per}`);
    return markup`<div><code>${id}</code>: ${[...(cost === null ? [] : [costText(cost)]), ...limits].join(', ')}</div>`;
  });
  return lines.length === 0 ? markup`–` : markup`${lines}`;
}
