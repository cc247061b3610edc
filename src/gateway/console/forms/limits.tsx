import type { Limits } from '../../admission/bucket.js';
import { fullNumber } from '../../pages/components/figure.js';
import { TextField, type Submitted } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';

const WINDOWS = ['minute', 'day', 'month'] as const;
const FIELDS = { minute: 'Per minute', day: 'Per day', month: 'Per month', concurrency: 'In flight' };
const UNLIMITED = 'unlimited';

export function LimitFields({ sent }: { readonly sent: Submitted | undefined }) {
  return (
    <fieldset>
      <legend>Limits of its own</legend>
      <p class="hint">
        Only on a plan with custom limits: units, or “{UNLIMITED}”. An empty month or number in flight limits nothing of
        its own.
      </p>
      {Object.entries(FIELDS).map(([field, label]) => (
        <TextField name={`limit-${field}`} label={label} sent={sent} />
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
  const fields = Object.keys(FIELDS).map((field) => [field, form.figure(`limit-${field}`)] as const);
  const given = fields.filter(([, limit]) => limit !== undefined);
  return given.length === 0 ? {} : { limits: Object.fromEntries(given) };
}

/** Returns text such as `60 per minute, 1,000 per day`. */
export function limitsText(limits: Limits | 'custom' | null): string {
  if (limits === null || limits === 'custom') return limits ?? 'of the plan';
  const perWindow = WINDOWS.flatMap((window) => {
    const limit = limits[window];
    return limit === undefined ? [] : [`${fullNumber(limit)} per ${window}`];
  });
  const { concurrency } = limits;
  return [...perWindow, ...(concurrency === undefined ? [] : [`${fullNumber(concurrency)} in flight`])].join(', ');
}
