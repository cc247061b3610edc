-- Counts a report of ended requests once: the number of each reporter's last report of the day is remembered. Counts
-- that come before their key is known are added to what an import brings. Also ends leases, and settles holds:
-- `applyChanges()` of admission/settlement.ts.
--
-- KEYS: what was reported of the key's day (`credits`), its ledger, the key, and its payer: the key or its customer.
-- ARGV: seconds to keep a ledger, reporter, number, ms to remember the number, how many counts, ids of ended leases,
-- fields and counts, then for each changed window: name, parts of a unit, when it began, units that come back per ms
-- with greedy refill, units.
local enterDay = include('enter-day')
local counted = call('HGET', KEYS[1], ARGV[3])
if not counted or tonumber(counted) < tonumber(ARGV[4]) then
  local isEarly = call('HEXISTS', KEYS[3], 'version') == 0 and call('EXISTS', KEYS[2]) == 0
  local last = 7 + 2 * tonumber(ARGV[6])
  for n = 8, last, 2 do call('HINCRBY', KEYS[2], ARGV[n], ARGV[n + 1]) end
  if isEarly then call('HSET', KEYS[2], 'on top', '1') end
  if call('TTL', KEYS[2]) < 0 then call('EXPIRE', KEYS[2], ARGV[2]) end
  enterDay(KEYS[2])
  call('HSET', KEYS[1], ARGV[3], ARGV[4])
  call('PEXPIRE', KEYS[1], ARGV[5])
  local held = ARGV[7] ~= '' and call('HGET', KEYS[4], 'leases')
  if held then
    local readLeases = include('read-leases')
    local writeLeases = include('write-leases')
    local leases = readLeases(held)
    for id in string.gmatch(ARGV[7], '%d+') do leases.ends[tonumber(id)] = nil end
    call('HSET', KEYS[4], 'leases', writeLeases(leases))
  end
  local found = last < #ARGV and call('HMGET', KEYS[4], 'state', 'windows')
  if found and found[1] then
    local monthStart = include('month-start')
    local readState = include('read-state')
    local readWindows = include('read-windows')
    local writeWindows = include('write-windows')
    local levels, ats = readWindows(found[2])
    local month, monthOf, strikes, level, since, banned
    levels.minute, ats.minute, levels.day, ats.day, month, monthOf, strikes, level, since, banned = readState(found[1])
    levels.month, ats.month = month, monthOf * DAY_MS
    for n = last + 1, #ARGV, 5 do
      local window, parts, began = ARGV[n], tonumber(ARGV[n + 1]), tonumber(ARGV[n + 2])
      local refill, units = tonumber(ARGV[n + 3]), tonumber(ARGV[n + 4])
      local before, at, ceiling = levels[window] or 0, ats[window], MAX_LIMIT * parts
      local isBalance = window == 'balance'
      local start = at
      if before > 0 and parts == DAY_MS then start = at - at % DAY_MS end
      if isBalance then
        ceiling = MAX_BALANCE
      elseif before > 0 and parts == 1 then
        start = monthStart(floor(at / DAY_MS)) * DAY_MS
      end
      if before == 0 then
        if refill > 0 and units > 0 then levels[window], ats[window] = min(units * parts, ceiling), began end
      elseif units > 0 then
        if refill > 0 or start == began then levels[window] = min(before + units * parts, ceiling) end
      elseif before < ceiling then
        local back = -units * parts
        if refill > 0 then back = back - refill * max(0, at - began) elseif start ~= began then back = 0 end
        levels[window] = before - min(before, max(0, back))
      end
    end
    call('HSET', KEYS[4], 'state', pack(
      STATE_FORMAT, levels.minute, ats.minute, levels.day, ats.day, strikes, level, STATE_MARK, since, banned,
      levels.month, monthOf
    ))
    levels.minute, levels.day, levels.month = nil, nil, nil
    if next(levels) then call('HSET', KEYS[4], 'windows', writeWindows(levels, ats)) end
  end
end
