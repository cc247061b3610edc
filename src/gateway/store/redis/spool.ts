import { MAX_LIMIT, SHAPES } from '../../admission/bucket.js';
import type { Terms } from '../../admission/plan.js';
import { refillOf, windowsOf } from '../../admission/windows.js';
import { customerOf } from '../records/customer-id.js';
import type { UsageRow } from '../port.js';
import type { Link } from './link/link.js';
import { luaLimit, MONTH_ENDS, MONTH_START } from './scripts/windows.js';
import { noteCrossed, WRITE_NOTES } from './outbox/crossed.js';
import { enterDay } from './ledger/active-days.js';
import { customerName, dayNumberOf, EXCESS, keyName, ledgerName, spoolName } from './names.js';
import { scriptOf } from './link/script.js';
import { packedState, readStateOf, WINDOW_FORMAT } from './state.js';

/** What comes later may be of a day that is in the archive: beside that it stays for ever. */
const ENDLESS_DAYS = 30;

/**
 * Takes over what a gateway counted while Redis was away. The counts are absolute: what was taken before
 * is remembered by day under the spool's id and subtracted, so that the call may be repeated at will.
 * Units of today are spent from the day's bucket too, those of this month from its own; it may go below empty. One that
 * refills greedily knows no days: all are spent from it, until it is empty. Other windows of today and of this month
 * are those that the row names.
 *
 * With shares to warn at, what this crosses of day and month is noted (outbox/pending.ts); it answers `2` then.
 *
 * KEYS: the key, or its customer, then for each day the ledger and what was taken of it; of a customer's key that
 * last. ARGV: spool id, seconds the ledger is
 * kept, the day's limit where it refills greedily, shares to warn at (percent, a byte each), the limits of day and month
 * (-1: none), plan and name of the key, then for each row the place of its ledger in KEYS, number of the day, plan and
 * operation, requests, limited, banned, failed, units beyond one for each request, names of windows with spaces.
 */
const HERE = { payer: 'KEYS[1]', key: 'name', plan: 'plan' };
const TAKE = scriptOf(`
local DAY, CEILING = ${SHAPES.day.perMs}, ${MAX_LIMIT * SHAPES.day.parts}
local greedy = tonumber(ARGV[4])
local names, today, spent = { 'requests', 'limited', 'banned', 'failed', '${EXCESS}' }, floor(clock / ${SHAPES.day.perMs}), 0
local now, spentOf, spentOfMonth, month, notes, marks, isNoted = clock, {}, 0
local warnAt, dayLimit, monthLimit, plan, name = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8], ARGV[9]
${MONTH_START}
for n = 10, #ARGV, 9 do
  local at = tonumber(ARGV[n])
  local ledger, marks, day = KEYS[at], KEYS[at + 1], tonumber(ARGV[n + 1])
  for place = 1, 5 do
    local field, total = ARGV[n + 2] .. '|' .. names[place], ARGV[n + 2 + place]
    local mark = ARGV[2] .. '|' .. field
    local more = total ~= '0' and tonumber(total) - tonumber(call('HGET', marks, mark) or '0') or 0
    if more > 0 then
      call('HINCRBY', ledger, field, more)
      call('HSET', marks, mark, total)
      if place == 1 or place == 5 then
        if greedy or day == today then spent = spent + more end
        if day >= month then spentOfMonth = spentOfMonth + more end
        for window in string.gmatch(ARGV[n + 8], '%S+') do
          local isMonth = string.byte(window, -1) == ${MONTH_ENDS}
          if isMonth and day >= month or day == today then spentOf[window] = (spentOf[window] or 0) + more * (isMonth and 1 or DAY) end
        end
      end
    end
  end
  if today - day > ${ENDLESS_DAYS} then call('PERSIST', ledger) elseif call('TTL', ledger) < 0 then call('EXPIRE', ledger, ARGV[3]) end
  ${enterDay('ledger')}
  if call('TTL', marks) < 0 then call('EXPIRE', marks, ARGV[3]) end
end
local found = (spent > 0 or spentOfMonth > 0) and call('HMGET', KEYS[1], 'version', 'state', 'windows')
if found and found[1] then
  local raw = found[2]
  ${readStateOf('raw')}
  if greedy then
    if clock > dAt then d = math.max(0, d - greedy * (clock - dAt)) end
    dAt = clock
  elseif floor(dAt / DAY) < today then
    d, dAt = 0, clock - clock % DAY
  end
  local before = d
  d = math.max(d, math.min(d + spent * DAY, greedy and greedy * DAY or CEILING))
  if dayLimit >= 0 then${noteCrossed({ window: 'day', before: 'before', after: 'd', parts: SHAPES.day.parts, limit: 'dayLimit', start: 'now', ...HERE })}
  end
  if usedOf < month then used = 0 end
  before = used
  used = math.min(used + spentOfMonth, ${MAX_LIMIT})
  if monthLimit >= 0 then${noteCrossed({ window: 'month', before: 'before', after: 'used', parts: 1, limit: 'monthLimit', start: `month * ${SHAPES.day.perMs}`, ...HERE })}
  end
  call('HSET', KEYS[1], 'state', ${packedState('m', 'mAt', 'd', 'dAt', 'strikes', 'level', 'since', 'banned', 'used', 'month')})
  if next(spentOf) then
    local text, from, parts = found[3] or '', 1, {}
    while from <= #text do
      local window, l, a
      window, l, a, from = unpack('${WINDOW_FORMAT}', text, from)
      if spentOf[window] then
        local isMonth = string.byte(window, -1) == ${MONTH_ENDS}
        local start = isMonth and month * DAY or clock - clock % DAY
        if a < start then l, a = 0, start end
        l = math.min(l + spentOf[window], isMonth and ${MAX_LIMIT} or CEILING)
        spentOf[window] = nil
      end
      parts[#parts + 1] = pack('${WINDOW_FORMAT}', #window, window, l, a)
    end
    for window, l in pairs(spentOf) do
      local isMonth = string.byte(window, -1) == ${MONTH_ENDS}
      parts[#parts + 1] = pack('${WINDOW_FORMAT}', #window, window, l, isMonth and month * DAY or clock - clock % DAY)
    end
    call('HSET', KEYS[1], 'windows', table.concat(parts))
  end
end
${WRITE_NOTES}
return pack('<d', clock) .. (notes and '2' or '1')
`);

/** One key's counts of a spool, absolute. */
export interface SpooledKey {
  readonly keyId: string;
  readonly rows: readonly UsageRow[];
  /** What holds for the key while Redis decides; undefined where that is not known. */
  readonly terms?: Terms | undefined;
  /** Shares of its limits that are warned of, percent; undefined where none are. */
  readonly warnAt?: readonly number[] | undefined;
}

/** Takes the key's counts over, what was not taken before. When it resolves, all of them are in the ledger. True when something is to be told of it. */
export async function takeSpool(
  link: Link,
  spoolId: string,
  { keyId, rows, terms, warnAt }: SpooledKey,
  usageDays: number,
): Promise<boolean> {
  const days = [...new Set(rows.map((row) => dayNumberOf(row.day)))];
  const customerId = customerOf(keyId);
  const names = [customerId === null ? keyName(keyId) : customerName(customerId)];
  for (const day of days) names.push(ledgerName(keyId, day), spoolName(keyId, day));
  // Where its days are entered.
  if (customerId !== null) names.push(keyName(keyId));
  const { day: ofDay = 'unlimited', month: ofMonth = 'unlimited' } = terms?.limits ?? {};
  const args: (string | number)[] = [
    spoolId,
    (usageDays + 1) * 86_400,
    terms?.refill === 'greedy' && ofDay !== 'unlimited' ? ofDay : '',
    String.fromCharCode(...(warnAt ?? [])),
    luaLimit(ofDay),
    luaLimit(ofMonth),
    terms?.plan ?? '',
    keyName(keyId),
  ];
  for (const { day: name, plan, operation, requests, units, limited, banned, failed } of rows) {
    const day = dayNumberOf(name);
    args.push(2 + 2 * days.indexOf(day), day, `${plan}|${operation}`);
    args.push(requests, limited, banned, failed, units - requests, ownWindows(terms, operation).join(' '));
  }
  return (await link.run(TAKE, names, args.map(String))).toString() === '2';
}

/** The operation's own windows per day and month that its requests take from; those that trickle left out. */
function ownWindows(terms: Terms | undefined, operation: string): readonly string[] {
  if (terms?.operations === undefined) return [];
  return windowsOf(terms, operation)
    .filter(({ name, per }) => name !== 'month' && per !== 'minute' && refillOf(per, terms.refill) === 'interval')
    .map(({ name }) => name);
}
