import { SelectField, type Submitted } from '../../pages/components/form.js';
import type { Visit } from '../visit/page.js';

interface PlanFieldParts {
  readonly visit: Visit;
  /** The current plan, which may be retired or gone; undefined for a new record. */
  readonly plan?: string | undefined;
  readonly sent: Submitted | undefined;
}

export function PlanField({ visit, plan, sent }: PlanFieldParts) {
  const names = new Set([...(plan === undefined ? [] : [plan]), ...visit.parts.registry.openPlans]);
  return <SelectField name="plan" label="Plan" choices={[...names]} value={plan} sent={sent} />;
}
