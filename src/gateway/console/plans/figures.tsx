import { TextField, type Submitted } from '../../pages/components/form.js';
import type { Form } from '../../pages/form.js';

/** The figures of a plan that the form has, with their labels. */
const FIGURES = {
  limits: { minute: 'Per minute', day: 'Per day', month: 'Per month' },
  price: { monthly: 'A month', included: 'Units included', per_unit: 'Each unit beyond', currency: 'Currency' },
};
const LEGENDS = { limits: 'Limits: units, or unlimited', price: 'Price, in the smallest coin: 4900 is 49.00 EUR' };
const GROUPS = ['limits', 'price'] as const;

type Figures = Readonly<Record<string, number | string>>;

/** A plan as the file has it. */
export interface PlanFigures {
  readonly limits: 'custom' | Figures;
  readonly price?: Figures;
}

/** Shows the limits and prices of a plan in fields such as `limits.day`. */
export function FigureFields({ plan, sent }: { readonly plan: PlanFigures; readonly sent: Submitted | undefined }) {
  return (
    <>
      {groupsOf(plan).map(({ group, fields, figures }) => (
        <fieldset>
          <legend>{LEGENDS[group]}</legend>
          {Object.entries(fields).map(([name, label]) => (
            <TextField {...{ label, sent }} name={`${group}.${name}`} value={String(figures[name] ?? '')} />
          ))}
        </fieldset>
      ))}
    </>
  );
}

/** Returns the plan with the figures of the form; empty ones are left out. */
export function withFigures(plan: PlanFigures, form: Form): object {
  const changed = groupsOf(plan).map(({ group, fields, figures }) => {
    const others = Object.entries(figures).filter(([name]) => !Object.hasOwn(fields, name));
    const entered = Object.keys(fields).map((name) => [name, form.figure(`${group}.${name}`)] as const);
    const all = [...others, ...entered].filter(([, figure]) => figure !== undefined);
    return [group, all.length === 0 ? undefined : Object.fromEntries(all)] as const;
  });
  return { ...plan, ...Object.fromEntries(changed) };
}

function groupsOf(plan: PlanFigures) {
  return GROUPS.flatMap((group) => {
    const figures = plan[group] ?? {};
    return figures === 'custom' ? [] : [{ group, fields: FIGURES[group], figures }];
  });
}
