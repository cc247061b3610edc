-- Adds what a gateway counted while Redis was unavailable. The counts are totals: Redis remembers by day, under the
-- spool's ID, what it took before, and takes only the rest, so the call may be repeated. If Redis has lost that, the
-- totals that it acknowledged to the gateway are subtracted, because an import may bring them back. The ledger of an
-- unknown key is marked, so that an import adds to it; what such a key spent is stored, but crossings are not noted.
--
-- Today's units are also spent from the day window, and those of this month from the month window, even beyond their
-- limits. A day window with greedy refill does not begin at midnight: the units of all days are spent from it, until it
-- is empty. Each row names the other windows of today and of this month to spend from, and the balance. With shares to
-- warn at, notes crossings of day and month (outbox/pending.ts), and returns `2` if there are any, otherwise `1`.
--
-- KEYS: the key, or its customer, then for each day the ledger and what was taken of it; for a customer's key, that key
-- last. ARGV: spool ID, seconds to keep the ledger, the day's limit if it refills greedily, shares to warn at (percent,
-- one byte each), the limits of day and month (-1: none), plan and name of the key, then for each row the place of its
-- ledger in KEYS, day number, plan and operation, requests, limited, banned, failed, units beyond one per request,
-- returned units, names of windows, one per line, and what Redis has acknowledged of these six. Returned units come
-- back to the windows that the others are spent from, except to a day with greedy refill, which may have refilled.
local enterDay = include('enter-day')
local monthStart = include('month-start')
local noteCrossings = include('note-crossings')
local readState = include('read-state')
local readWindows = include('read-windows')
local writeNotes = include('write-notes')
local writeWindows = include('write-windows')

local today = floor(clock / DAY_MS)
local thisMonth = monthStart(today)
local greedy = tonumber(ARGV[4])
local warnAt, dayLimit, monthLimit, plan, name = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8], ARGV[9]
local names = { 'requests', 'limited', 'banned', 'failed', 'excess', 'returned' }
local spentOfDay, spentOfMonth, spentOf, notes = 0, 0, {}, {}
local isKnown = call('HEXISTS', name, 'version') == 1

-- The first day whose units are spent from a window, and the parts of a unit in it.
local function termsOf(window)
  if window == 'balance' then return 0, 1 end
  if string.sub(window, -1) == 'h' then return thisMonth, 1 end
  return today, DAY_MS
end

for n = 10, #ARGV, 16 do
  local at = tonumber(ARGV[n])
  local ledger, taken, day = KEYS[at], KEYS[at + 1], tonumber(ARGV[n + 1])
  local isEarly = not isKnown and call('EXISTS', ledger) == 0
  for index = 1, 6 do
    local field, total = ARGV[n + 2] .. '|' .. names[index], ARGV[n + 2 + index]
    local mark = ARGV[2] .. '|' .. field
    local more = total ~= '0' and tonumber(total) - tonumber(call('HGET', taken, mark) or ARGV[n + 9 + index]) or 0
    if more > 0 then
      call('HINCRBY', ledger, field, more)
      call('HSET', taken, mark, total)
      if index == 1 or index > 4 then
        if index == 6 then more = -more end
        if greedy and more > 0 or not greedy and day == today then spentOfDay = spentOfDay + more end
        if day >= thisMonth then spentOfMonth = spentOfMonth + more end
        for window in string.gmatch(ARGV[n + 9], '[^\n]+') do
          local first, parts = termsOf(window)
          if day >= first then spentOf[window] = (spentOf[window] or 0) + more * parts end
        end
      end
    end
  end
  if isEarly then call('HSET', ledger, 'on top', '1') end
  if call('TTL', ledger) < 0 then call('EXPIRE', ledger, ARGV[3]) end
  enterDay(ledger)
  if call('TTL', taken) < 0 then call('EXPIRE', taken, ARGV[3]) end
end

local isSpent = spentOfDay ~= 0 or spentOfMonth ~= 0 or next(spentOf)
local found = isSpent and call('HMGET', KEYS[1], 'version', 'state', 'windows')
if found then
  if not found[1] then warnAt = '' end
  local minute, minuteAt, day, dayAt, month, monthOf, strikes, level, since, banned = readState(found[2])
  if greedy then
    if clock > dayAt then day = max(0, day - greedy * (clock - dayAt)) end
    dayAt = clock
  elseif floor(dayAt / DAY_MS) < today then
    day, dayAt = 0, today * DAY_MS
  end
  local before, marks = day, nil
  if spentOfDay < 0 then
    day = max(0, day + spentOfDay * DAY_MS)
  else
    day = max(day, min(day + spentOfDay * DAY_MS, (greedy or MAX_LIMIT) * DAY_MS))
  end
  if dayLimit >= 0 then
    marks = noteCrossings(
      notes, nil, KEYS[1], warnAt, 'day', 1, before, day, DAY_MS, dayLimit, today, clock, plan, name
    )
  end
  before = monthOf < thisMonth and 0 or month
  month = max(0, min(before + spentOfMonth, MAX_LIMIT))
  if monthLimit >= 0 then
    noteCrossings(
      notes, marks, KEYS[1], warnAt, 'month', 2, before, month, 1, monthLimit, thisMonth, clock, plan, name
    )
  end
  local state =
    pack(STATE_FORMAT, minute, minuteAt, day, dayAt, strikes, level, STATE_MARK, since, banned, month, thisMonth)
  call('HSET', KEYS[1], 'state', state)
  if next(spentOf) then
    local levels, ats = readWindows(found[3])
    for window, spent in pairs(spentOf) do
      local first, parts = termsOf(window)
      local start = first * DAY_MS
      if not ats[window] or ats[window] < start then levels[window], ats[window] = 0, start end
      local ceiling = window == 'balance' and MAX_BALANCE or MAX_LIMIT * parts
      levels[window] = min(max(0, levels[window] + spent), ceiling)
    end
    call('HSET', KEYS[1], 'windows', writeWindows(levels, ats))
  end
end
writeNotes(notes)
return (#notes > 0 and '2' or '1')
