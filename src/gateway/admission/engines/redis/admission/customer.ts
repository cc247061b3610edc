import { STATE_FORMAT, WINDOW_FORMAT } from '../state.js';
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
      customer = { keys = {}, plan = itsPlan, status = ${CODE.unknown}, m = 0, mAt = 0, d = 0, dAt = 0 }
      if word == 'enabled' then customer.status = 0 elseif word == 'disabled' then customer.status = ${CODE.disabled} elseif word then customer.status = ${CODE.closed} end
      customer.minute, customer.day, customer.month = tonumber(minute), tonumber(day), tonumber(month)
      if customer.month == ${NO_LIMIT_OF_ITS_OWN} then customer.month = nil end
      if granted ~= '' then customer.grants = granted end
      if found[2] then customer.m, customer.mAt, customer.d, customer.dAt = unpack('${STATE_FORMAT}', found[2]) end
      customers[owner] = customer
    end
    m, mAt, d, dAt = customer.m, customer.mAt, customer.d, customer.dAt
    plan, minuteLimit, dayLimit = customer.plan, customer.minute, customer.day
    if customer.keys[name] then strikes, since, banned, level = spread(customer.keys[name]) end
  end`;

/** Lua: whether this refusal changed what is the key's own, before it is taken over. */
export const NOTE_STRUCK = `
        if customer and (strikes1 ~= strikes or since1 ~= since or banned1 ~= banned or level1 ~= level) then isStruck = true end`;

/** Lua: what the requests of the key left behind. The key itself is written only where it is another now. */
export const KEEP_CUSTOMER = `
    customer.m, customer.mAt, customer.d, customer.dAt, customer.isChanged = m, mAt, d, dAt, true
    customer.hasNewWindows = customer.hasNewWindows or hasNewWindows
    if isStruck or hasNewSummary then
      customer.keys[name] = { strikes, since, banned, level }
      states[stateCount + 1], states[stateCount + 2], states[stateCount + 3], states[stateCount + 4], states[stateCount + 5] = name, pack('${STATE_FORMAT}', 0, 0, 0, 0, strikes, since, banned, level), hasNewSummary and summary, false, false
      stateCount = stateCount + 5
    end`;

/** Lua: writes the buckets of the customers that were spent from. */
export const WRITE_CUSTOMERS = `
if customers then
  for owner, customer in pairs(customers) do
    if customer.isChanged then
      call('HSET', owner, 'state', pack('${STATE_FORMAT}', customer.m, customer.mAt, customer.d, customer.dAt, 0, 0, 0, 0))
      if customer.hasNewWindows then
        local parts = {}
        for window, l in pairs(customer.levels) do parts[#parts + 1] = pack('${WINDOW_FORMAT}', #window, window, l, customer.ats[window]) end
        call('HSET', owner, 'windows', table.concat(parts))
      end
    end
  end
end`;
