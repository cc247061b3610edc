import { subjectOf, type GatewayEvent } from '../../outbox/event.js';
import { banEvent, crossedEvent } from '../../records/facts.js';
import { newEntry } from './entries.js';

/**
 * A pending event is a field in the hash of its key or customer, named by the rest of its id; with it stands the field
 * `telling`. A change of a key writes the entry of the event in the same step, and the field is empty. The admission
 * can't: its field says in short what happened, for a value of more than 64 bytes takes the hash out of its compact
 * form.
 */
export const PENDING = 'tell-';

/** A pending event in ARGV of scripts that change a key: its field, its ID, and its entry. */
export function pendingArgs(event: GatewayEvent): readonly string[] {
  return [pendingField(event.id), event.id, JSON.stringify(newEntry(event))];
}

export function pendingField(eventId: string): string {
  return PENDING + eventId.slice(subjectOf(eventId).length + 1);
}

/**
 * The event of an admission in a field of the hash of a key or a customer: `<window>-<day it began>-<percent>-<limit>`,
 * what was used, when, of which plan, by which key; or `ban-<its end>`, its level, when, of which plan, and `silent`
 * where it is for the history alone.
 */
export function admissionEventOf(subject: string, field: string, value: string): GatewayEvent {
  const [what = '', ...numbers] = field.slice(PENDING.length).split('-');
  const [startDay = 0, threshold = 0, limit = 0] = numbers.map(Number);
  const [figure = '', atMs = '', plan = '', keyName = ''] = value.split(' ');
  if (what === 'ban') return banEvent(subject, plan, { untilMs: startDay, level: Number(figure) }, Number(atMs));
  const window = what === 'month' ? what : 'day';
  const crossing = { window, startDay, threshold, limit, used: Number(figure) } as const;
  return crossedEvent(subject, keyIdIn(keyName) ?? subject, plan, crossing, Number(atMs));
}

/** Whether it is not sent. */
export function isSilent(value: string): boolean {
  return value.endsWith(' silent');
}

/** The key in a name made by names.ts. */
function keyIdIn(name: string): string | undefined {
  const [, tag, rest = ''] = /^petgate:\{([^}]+)\}([^:]*):key$/.exec(name) ?? [];
  return tag === undefined ? undefined : tag + rest;
}
