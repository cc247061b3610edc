import { dayOf } from '../../../../shared/utc-day.js';
import { SEPARATOR } from '../files/rows.js';

/** What a key's usage is counted under: day, plan and operation, as text and as bytes. */
export interface Label {
  readonly text: string;
  readonly bytes: Buffer;
  /** `2026-11-21` */
  readonly day: string;
}

const DAY_LENGTH = 10;
/** Cached labels; at this number the cache starts over. */
const MAX_LABELS = 1_000;

let day = '';
const ofDay = new Map<string, Map<string, Label>>();
const byText = new Map<string, Label>();

/** Returns the label of an operation on the day of `atMs`. Cached, because every admission asks for one. */
export function labelOf(atMs: number, plan: string, operation: string): Label {
  const asked = dayOf(atMs);
  if (asked !== day) {
    ofDay.clear();
    day = asked;
  }
  let ofPlan = ofDay.get(plan);
  if (ofPlan === undefined) ofDay.set(plan, (ofPlan = new Map<string, Label>()));
  let label = ofPlan.get(operation);
  if (label === undefined) ofPlan.set(operation, (label = labelFrom(day + SEPARATOR + plan + SEPARATOR + operation)));
  return label;
}

export function labelFrom(text: string): Label {
  let label = byText.get(text);
  if (label === undefined) {
    if (byText.size >= MAX_LABELS) byText.clear();
    byText.set(text, (label = { text, bytes: Buffer.from(text), day: text.slice(0, DAY_LENGTH) }));
  }
  return label;
}
