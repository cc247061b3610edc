import { AFTER_REFUSALS } from '../store/outbox/event.js';
import type { Ban } from '../store/port.js';
import { parseDurationMs } from '../config/schema/quantity.js';
import { unknownFields } from '../accounts/fields.js';
import { KeyRefused } from '../accounts/refused.js';
import { AdminRefusal } from './answer.js';
import type { Answer } from './answer.js';
import { readPaging } from './input/query.js';
import type { Call, Route } from './route.js';

/** Bans of keys; those of addresses end by themselves and can't be listed. */
export const BAN_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/bans',
    summary: 'Bans of keys in force',
    role: 'read',
    query: ['limit', 'cursor'],
    gives: [200, 'BanPage'],
    handle: list,
  },
  {
    method: 'GET',
    path: '/admin/v1/bans/{id}',
    summary: 'The ban of one key',
    role: 'read',
    gives: [200, 'Ban'],
    handle: show,
  },
  {
    method: 'PUT',
    path: '/admin/v1/bans/{id}',
    summary: 'Bans a key',
    role: 'keys',
    takes: 'NewBan',
    gives: [200, 'Ban'],
    handle: start,
  },
  {
    method: 'DELETE',
    path: '/admin/v1/bans/{id}',
    summary: 'Lifts a ban, and forgets what led to it',
    role: 'keys',
    gives: [204],
    handle: lift,
  },
];

const MIN_MS = 1_000;
const MAX_MS = 366 * 86_400_000;
const REASON_LENGTH = 200;
/** What is shown of a ban that nobody started by hand. */
const BY_ITSELF = { reason: AFTER_REFUSALS, actor: 'petgate' };
/** Keys looked at for one answer, and how many of them at once. */
const SCAN_COUNT = 10_000;
const BATCH_COUNT = 250;

async function list({ parts, query }: Call): Promise<Answer> {
  const { count, cursor } = readPaging(query);
  const bans: Ban[] = [];
  let next = cursor;
  for (let scanned = 0; scanned < SCAN_COUNT; scanned += BATCH_COUNT) {
    const page = await parts.registry.list({}, next, BATCH_COUNT);
    const found = await Promise.all(page.keys.map(({ id }) => parts.engine.bans.read(id)));
    for (const [index, ban] of found.entries()) {
      if (ban !== undefined && bans.push(ban) === count) return listed(bans, page.keys[index]!.id);
    }
    next = page.cursor;
    if (next === null) break;
  }
  return listed(bans, next);
}

function listed(bans: readonly Ban[], cursor: string | null): Answer {
  return { json: { bans: bans.map(viewOf), cursor } };
}

async function show({ parts, id }: Call): Promise<Answer> {
  const { id: keyId } = await parts.registry.get(id);
  const ban = await parts.engine.bans.read(keyId);
  if (ban === undefined) throw notBanned();
  return { json: viewOf(ban) };
}

async function start({ parts, id, body, actor }: Call): Promise<Answer> {
  const { forMs, reason } = readStart(body);
  const { id: keyId } = await parts.registry.get(id);
  const untilMs = (await parts.registry.nowMs()) + forMs;
  return { json: viewOf(await startBan(parts, keyId, untilMs, reason, actor)) };
}

/** Bans a key that is there, and writes it into the key's history. */
export async function startBan(
  parts: Call['parts'],
  keyId: string,
  untilMs: number,
  reason: string | null,
  actor: string,
): Promise<Ban> {
  const note = { reason, actor };
  const event = await parts.registry.eventOfBan(await parts.registry.get(keyId), untilMs, reason);
  await parts.engine.bans.start(keyId, untilMs, note, event);
  await parts.registry.note(
    keyId,
    'banned',
    { until: new Date(untilMs).toISOString(), ...(reason === null ? {} : { reason }) },
    actor,
  );
  return { keyId, untilMs, level: 1, note };
}

async function lift({ parts, id, actor }: Call): Promise<undefined> {
  const { id: keyId } = await parts.registry.get(id);
  if (!(await liftBan(parts, keyId, actor))) throw notBanned();
}

/** False, and nothing written, where no ban was in force. */
export async function liftBan(parts: Call['parts'], keyId: string, actor: string): Promise<boolean> {
  const isLifted = await parts.engine.bans.lift(keyId);
  if (isLifted) await parts.registry.note(keyId, 'lifted', {}, actor);
  return isLifted;
}

export function readStart(body: Call['body']): { readonly forMs: number; readonly reason: string | null } {
  const problems = [...unknownFields(body, ['for', 'reason'])];
  const length = body['for'];
  const forMs = (typeof length === 'string' ? parseDurationMs(length) : undefined) ?? 0;
  if (forMs < MIN_MS || forMs > MAX_MS) problems.push('for: must be a duration from 1s to 366d, such as 1h');
  const reason = body['reason'] ?? null;
  const isText = typeof reason === 'string' && reason.length <= REASON_LENGTH && !/\p{Cc}|pt[ga]_/u.test(reason);
  if (reason !== null && !isText)
    problems.push(`reason: must be a text of at most ${REASON_LENGTH} characters without a key or a token in it`);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  return { forMs, reason: isText ? reason : null };
}

export function viewOf({ keyId, untilMs, level, note }: Ban): Record<string, unknown> {
  const { reason, actor } = note ?? BY_ITSELF;
  return { key: keyId, until: new Date(untilMs).toISOString(), level, reason, by: actor };
}

export function notBanned(): AdminRefusal {
  return new AdminRefusal(404, 'not_banned', 'No ban of this key is in force.');
}
