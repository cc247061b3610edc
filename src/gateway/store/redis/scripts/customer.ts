import { packedState, readStateOf, WINDOW_FORMAT } from '../state.js';
import { CODE } from './codes.js';
import { NO_LIMIT_OF_ITS_OWN } from './summary.js';

/**
 * Lua for keys of customers (docs/decisions/0024-customers.md). All of it stands in branches on `owner`, the name
 * of the customer, which is nil for other keys. `customers` holds for one run what is known of each: its terms, its
 * buckets as the requests before left them, and in `keys` strikes and ban of those of its keys that changed. So its
 * keys may follow each other in any order, also the same one twice.
 */

/** Lua: what binds the key `name` of the customer `owner`, and its buckets; of the key strikes and ban stay. */
export const READ_CUSTOMER = `
  local customer
  if owner then
    customers = customers or {}
    customer = customers[owner]
    if not customer then
      local found = call('HMGET', owner, 'terms', 'state')
      local word, minute, day, month, granted, itsPlan = string.match(found[1] or '', '^(%l+) (%-?%d+) (%-?%d+) (%-?%d+);?(%S*) (.+)$')
      customer = { keys = {}, plan = itsPlan, status = ${CODE.unknown} }
      if word == 'enabled' then customer.status = 0 elseif word == 'disabled' then customer.status = ${CODE.disabled} elseif word then customer.status = ${CODE.closed} end
      customer.minute, customer.day, customer.month = tonumber(minute), tonumber(day), tonumber(month)
      if customer.month == ${NO_LIMIT_OF_ITS_OWN} then customer.month = nil end
      if granted ~= '' then customer.grants = granted end
      ${readStateOf('found[2]')}
      customer.m, customer.mAt, customer.d, customer.dAt, customer.used, customer.usedOf = m, mAt, d, dAt, used, usedOf
      customers[owner] = customer
    end
    m, mAt, d, dAt, used, usedOf = customer.m, customer.mAt, customer.d, customer.dAt, customer.used, customer.usedOf
    plan, minuteLimit, dayLimit = customer.plan, customer.minute, customer.day
    if customer.keys[name] then strikes, level, since, banned = spread(customer.keys[name]) end
  end`;

/** Lua: whether this refusal changed what is the key's own, before it is taken over. */
export const NOTE_STRUCK = `
        if customer and (strikes1 ~= strikes or since1 ~= since or banned1 ~= banned or level1 ~= level) then isStruck = true end`;

/** Lua: what the requests of the key left behind. The key itself is written only where it is another now. */
export const KEEP_CUSTOMER = `
    customer.m, customer.mAt, customer.d, customer.dAt, customer.used, customer.usedOf, customer.isChanged = m, mAt, d, dAt, used, usedOf, true
    customer.hasNewWindows = customer.hasNewWindows or hasNewWindows
    if isStruck or hasNewSummary then
      customer.keys[name] = { strikes, level, since, banned }
      states[stateCount + 1], states[stateCount + 2], states[stateCount + 3], states[stateCount + 4], states[stateCount + 5] = name, ${packedState('0', '0', '0', '0', 'strikes', 'level', 'since', 'banned', '0', '0')}, hasNewSummary and summary, false, false
      stateCount = stateCount + 5
    end`;

/** Lua: writes the buckets of the customers that were spent from. */
export const WRITE_CUSTOMERS = `
if customers then
  for owner, customer in pairs(customers) do
    if customer.isChanged then
      call('HSET', owner, 'state', ${packedState('customer.m', 'customer.mAt', 'customer.d', 'customer.dAt', '0', '0', '0', '0', 'customer.used', 'customer.usedOf')})
      if customer.hasNewWindows then
        local parts = {}
        for window, l in pairs(customer.levels) do parts[#parts + 1] = pack('${WINDOW_FORMAT}', #window, window, l, customer.ats[window]) end
        call('HSET', owner, 'windows', table.concat(parts))
      end
    end
  end
end`;
