import type { Limits } from '../../admission/bucket.js';
import { fullNumber } from '../../pages/components/figure.js';
import { TextField, type Submitted } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';

const WINDOWS = ['minute', 'day', 'month'] as const;
const UNLIMITED = 'unlimited';

export function LimitFields({ sent }: { readonly sent: Submitted | undefined }) {
  return (
    <fieldset>
      <legend>Limits of its own</legend>
      <p class="hint">Only on a plan with custom limits: units, or “{UNLIMITED}”. Without a month there is none.</p>
      {WINDOWS.map((window) => (
        <TextField name={`limit-${window}`} label={`Per ${window}`} sent={sent} />
      ))}
      {sent?.problems
        .filter((problem) => problem.startsWith('limits'))
        .map((problem) => (
          <p class="problem">{problem}</p>
        ))}
    </fieldset>
  );
}

/** Returns limits for the admin API, which refuses what is not a number; nothing if all fields are empty. */
export function limitsIn(form: Form): { readonly limits?: Readonly<Record<string, unknown>> } {
  const given = WINDOWS.flatMap((window) => {
    const text = form.given(`limit-${window}`);
    if (text === undefined) return [];
    return [[window, /^\d{1,16}$/.test(text) ? Number(text) : text] as const];
  });
  return given.length === 0 ? {} : { limits: Object.fromEntries(given) };
}

/** Returns text such as `60 per minute, 1,000 per day`. */
export function limitsText(limits: Limits | 'custom' | null): string {
  if (limits === null || limits === 'custom') return limits ?? 'of the plan';
  return WINDOWS.flatMap((window) => {
    const limit = limits[window];
    return limit === undefined ? [] : [`${fullNumber(limit)} per ${window}`];
  }).join(', ');
}
