import { dayOf } from './day.js';
import { SEPARATOR } from './rows.js';

/** What a key row counts under: day, plan and operation, as text and as its bytes. */
export interface Label {
  readonly text: string;
  readonly bytes: Buffer;
}

let day = '';
const ofDay = new Map<string, Map<string, Label>>();

/** The label of an operation on the day of `atMs`. There are few a day, asked for at every admission. */
export function labelOf(atMs: number, plan: string, operation: string): Label {
  const asked = dayOf(atMs);
  if (asked !== day) {
    ofDay.clear();
    day = asked;
  }
  let ofPlan = ofDay.get(plan);
  if (ofPlan === undefined) ofDay.set(plan, (ofPlan = new Map<string, Label>()));
  let label = ofPlan.get(operation);
  if (label === undefined) {
    const text = day + SEPARATOR + plan + SEPARATOR + operation;
    label = { text, bytes: Buffer.from(text) };
    ofPlan.set(operation, label);
  }
  return label;
}
