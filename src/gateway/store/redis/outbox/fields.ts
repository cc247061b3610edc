import { subjectOf, type GatewayEvent } from '../../outbox/event.js';
import { banEvent, crossedEvent } from '../../records/facts.js';
import { newEntry } from './entries.js';

/**
 * Prefix of a pending event's field in the hash of its key or customer; the rest of the name is the rest of the event's
 * ID. The hash then also has the field `telling`. A change of a key writes the event's entry in the same step, and the
 * field is empty. An admission cannot do that: its field describes briefly what happened, because a value of more than
 * 64 bytes takes the hash out of its compact form.
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
 * Returns the event that an admission noted in a field of the hash of a key or customer:
 * - `<window>-<day it began>-<percent>-<limit>`: what was used, when, on which plan, by which key;
 * - `ban-<its end>`: its level, when, on which plan, and `silent` if it is only for the history.
 */
export function admissionEventOf(subject: string, field: string, value: string): GatewayEvent {
  const [what = '', ...numbers] = field.slice(PENDING.length).split('-');
  const [startDay = 0, threshold = 0, limit = 0] = numbers.map(Number);
  const [figure = '', atMs = '', plan = '', keyName = ''] = value.split(' ');
  if (what === 'ban') return banEvent(subject, plan, { untilMs: startDay, level: Number(figure) }, Number(atMs));
  const window = what === 'month' || what === 'balance' ? what : 'day';
  const crossing = { window, startDay, threshold, limit, used: Number(figure) } as const;
  return crossedEvent(subject, keyIdIn(keyName) ?? subject, plan, crossing, Number(atMs));
}

/** Whether the event is only for the history, and not sent. */
export function isSilent(value: string): boolean {
  return value.endsWith(' silent');
}

/** Returns the ID of the key in a name made by names.ts; undefined if it is no name of a key. */
function keyIdIn(name: string): string | undefined {
  const [, tag, rest = ''] = /^petgate:\{([^}]+)\}([^:]*):key$/.exec(name) ?? [];
  return tag === undefined ? undefined : tag + rest;
}
