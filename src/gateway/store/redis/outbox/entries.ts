import { isCopy, subjectOf, type GatewayEvent, type OutboxEntry } from '../../outbox/event.js';
import { banEvent, crossedEvent } from '../../records/facts.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { EVENTS_DUE, EVENTS_OPERATORS, EVENTS_WAITING, eventsName } from '../keyspace/names.js';

const INDEX = loadScript('outbox/index');

/** The entry of a new event in the hash of its subject's events. */
export function newEntry(event: GatewayEvent): OutboxEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null };
}

export async function readEntry(link: Link, id: string): Promise<OutboxEntry | undefined> {
  if (isCopy(id)) return undefined;
  const stored = (await link.command('hget', eventsName(subjectOf(id)), id)) as Buffer | null;
  return stored === null ? undefined : (JSON.parse(stored.toString()) as OutboxEntry);
}

/** Adds an event to the index. It is due once it has happened, but not within `graceMs`. */
export async function index(link: Link, { id, atMs }: GatewayEvent, graceMs: number): Promise<void> {
  await link.run(INDEX, [EVENTS_WAITING, EVENTS_DUE], [id, atMs.toString(), graceMs.toString()]);
}

/** Removes an event from the index; from its queue last, because until then it is retried. */
export async function withdraw(link: Link, id: string): Promise<void> {
  await link.command('zrem', EVENTS_WAITING, id);
  await Promise.all([EVENTS_DUE, EVENTS_OPERATORS].map((set) => link.command('zrem', set, id)));
}

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
