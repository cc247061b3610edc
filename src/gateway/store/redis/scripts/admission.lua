-- The admission: `rule()` of admission/decide.ts for a batch of requests, with reading and writing around it.
--
-- KEYS: for each subject the hash with its state (for an address, that of its group); for a customer's key then the
-- customer; for any key then its ledgers from the first to the last day. Each subject comes once, except for the keys
-- of a customer, which come in the order of its requests.
-- ARGV[2…]: the day with its place in the month (0: any day), the requests (admit/call.ts), and in pairs the operations
-- and scopes that they name by place.
--
-- Returns for each request a head and the state (admit/answers.ts), then grants, own limits, balance and windows, if
-- there are any. If today is another day, does nothing and returns only the number of today, as one double.
--
-- Limits: -1 is unlimited, NO_LIMIT means none. Each call runs the whole text and creates every function that it
-- reaches, so there are few, and those for rare cases are inside their branches. Minute, day and month, which every
-- key has, are locals: a list would cost 7 % more (docs/decisions/0018-the-admission-script.md).

local byte, find = string.byte, string.find
local today = floor(clock / DAY_MS)
local expected = tonumber(ARGV[2])
local dayOfMonth = expected % 32
expected = (expected - dayOfMonth) / 32
if expected ~= today and expected ~= 0 then return pack('<dd', clock, today) end

-- `settle()` of admission/bucket.ts: the window as it is now; one that opens now begins at `start`, and one that began
-- before `earliest` is over. `rate` is the refill per millisecond, below 0 without greedy refill.
local function settle(level, at, rate, now, start, earliest)
  if rate >= 0 then
    local refilled = now > at and rate * (now - at) or 0
    return refilled < level and level - refilled or 0, now
  end
  if at < earliest then level = 0 end
  if level == 0 or at > now then at = start end
  return level, at
end

-- `banLengthMs()` of admission/decide.ts.
local function banLength(level, length, factor, cap)
  for _ = 2, level do
    if length >= cap then break end
    length = floor(length * factor)
  end
  return min(length, cap)
end

-- What to write: `states` in fives, `counts` in threes. `customers` has for each customer in this batch its terms, its
-- windows after the requests so far, and in `keys` the strikes and bans of its changed keys, so that its keys may come
-- in any order, and repeatedly.
local KEYS, ARGV, requests = KEYS, ARGV, ARGV[3]
local answers, answered = { pack('<d', clock) }, 1
local states, stateCount, counts, countCount = {}, 0, {}, 0
local customers, notes, groups, leased
local k, at, last = 1, 1, #KEYS

while k <= last do
  local name, todaysLedger, firstDay, ledgers, owner = KEYS[k], k + 1, today, 0
  local many, low, kind
  many, low, kind = byte(requests, at, at + 2)
  many, at = many * 128 + low, at + 3
  if kind > 2 then
    kind, k = kind - 2, k + 1
    owner, todaysLedger = KEYS[k], k + 1
  end
  if kind == 1 then
    ledgers = 1
  elseif kind == 2 then
    local high, middle, moreLedgers
    high, middle, low, moreLedgers, ledgers, at = unpack('<BBBBB', requests, at)
    firstDay, ledgers = (high * 128 + middle) * 128 + low, moreLedgers * 128 + ledgers
    todaysLedger = todaysLedger + today - firstDay
  end

  -- The record. Its field `summary` has what this script needs, in a form that is fast to read: status (0: valid,
  -- otherwise the code of the response), version of the record, expiry, own minute and day limit, plan; then scopes,
  -- which end with a space or `*`; after a zero byte own limits of month and, after a slash, of requests in flight, if
  -- any; after a zero byte the grants, if any, which end with `+`. It is valid only for the version that it names; the
  -- first admission after a change rebuilds it. With one secret and a few scopes no field is longer than 64 bytes, so
  -- that Redis keeps the hash compact.
  local raw, secrets, summary, hasNewSummary, status, version, expires, minuteLimit, dayLimit, plan, scopesAt, row
  if kind > 0 then
    local found = call('HMGET', name, 'version', 'secrets', 'summary', 'state')
    secrets, summary, raw = found[2], found[3], found[4]
    if not found[1] or not secrets then
      status = UNKNOWN
    else
      local stored = tonumber(found[1])
      if summary then
        status, version, expires, minuteLimit, dayLimit, plan, scopesAt = unpack('<BI4di4i4s', summary)
      end
      if version ~= stored then
        local record =
          call('HMGET', name, 'plan', 'status', 'expires', 'scopes', 'minute', 'day', 'month', 'more', 'flights')
        local word, ownMonth, grants, flights = record[2], record[7] or '', record[8], record[9] or ''
        version, plan, status = stored, record[1], 0
        if word == 'disabled' then status = DISABLED elseif word == 'revoked' then status = REVOKED end
        expires = tonumber(record[3]) or NEVER
        minuteLimit = record[5] == 'unlimited' and -1 or tonumber(record[5]) or NO_LIMIT
        dayLimit = record[6] == 'unlimited' and -1 or tonumber(record[6]) or NO_LIMIT
        summary = pack('<BI4di4i4s', status, version, expires, minuteLimit, dayLimit, plan)
        scopesAt = #summary + 1
        summary, hasNewSummary = summary .. record[4], true
        if ownMonth == 'unlimited' then ownMonth = '-1' end
        if flights ~= '' then ownMonth = ownMonth .. '/' .. flights end
        if ownMonth ~= '' then summary = summary .. '\0' .. ownMonth end
        if grants and grants ~= '' then summary = summary .. '\0' .. grants end
      end
    end
  else
    local addressRow = include('address-row')
    groups = groups or {}
    row, at = unpack('<Bc0', requests, at)
    row, raw = addressRow(groups, name, row)
    status, version, expires, plan = 0, 0, NEVER, ANONYMOUS
  end
  local minute, minuteAt, day, dayAt, month, monthOf, strikes, level, since, banned, mark = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  if raw then
    minute, minuteAt, day, dayAt, strikes, level, mark, since, banned, month, monthOf = unpack(STATE_FORMAT, raw)
    if mark ~= STATE_MARK then
      local readState = include('read-state')
      minute, minuteAt, day, dayAt, month, monthOf, strikes, level, since, banned = readState(raw)
    end
  end

  -- The customer of the key (docs/decisions/0024-customers.md): its terms and windows; strikes and ban are the key's.
  local customer
  if owner then
    customers = customers or {}
    customer = customers[owner]
    if not customer then
      local readState = include('read-state')
      local found = call('HMGET', owner, 'terms', 'state')
      local word, ofMinute, ofDay, ofMonth, flights, itsGrants, itsPlan =
        string.match(found[1] or '', '^(%l+) (%-?%d+) (%-?%d+) (%-?%d+)/?(%d*);?(%S*) (.+)$')
      customer = { keys = {}, plan = itsPlan, minuteLimit = tonumber(ofMinute), dayLimit = tonumber(ofDay) }
      customer.status = word == 'enabled' and 0 or word == 'disabled' and DISABLED or word and CLOSED or UNKNOWN
      customer.monthLimit, customer.concurrency = tonumber(ofMonth), tonumber(flights)
      if customer.monthLimit == NO_LIMIT then customer.monthLimit = nil end
      if itsGrants ~= '' then customer.grants = itsGrants end
      customer.minute, customer.minuteAt, customer.day, customer.dayAt, customer.month, customer.monthOf =
        readState(found[2])
      customers[owner] = customer
    end
    minute, minuteAt, day, dayAt = customer.minute, customer.minuteAt, customer.day, customer.dayAt
    month, monthOf, plan = customer.month, customer.monthOf, customer.plan
    minuteLimit, dayLimit = customer.minuteLimit, customer.dayLimit
    if customer.keys[name] then strikes, level, since, banned = spread(customer.keys[name]) end
  end

  -- Grants of the key or its customer, nil if there are none, and what precedes them in the summary.
  local own, grants = summary, nil
  if customer then
    grants = customer.grants
  elseif own and byte(own, -1) == GRANTS_END then
    own, grants = string.match(own, '^(.*)%z([^%z]+)$')
  end

  -- The plan. The include is replaced by `nil` and a branch per plan that sets these variables (admit/plans.ts): its
  -- place, its refill, its ban rule, its limits (nil if those of the key or its customer apply), costs and windows of
  -- operations, shares to warn at, requests that may be in flight, whether a balance is spent, too.
  local place, greedy, after, within, length, factor, cap, planMinute, planDay, monthLimit, operations, warnAt,
    concurrency, isPrepaid = include('plans')
  local ownMonth, ownConcurrency
  if planMinute then
    minuteLimit, dayLimit = planMinute, planDay
  elseif place then
    if customer then
      ownMonth, ownConcurrency = customer.monthLimit, customer.concurrency
    elseif own and byte(own, -1) >= 48 then
      ownMonth, ownConcurrency = string.match(own, '%z(%-?%d*)/?(%d*)$')
      ownMonth, ownConcurrency = tonumber(ownMonth), tonumber(ownConcurrency)
    end
    monthLimit, concurrency = ownMonth, ownConcurrency or concurrency
  else
    minuteLimit = NO_LIMIT
  end
  monthLimit = monthLimit or -1
  local minuteBase, dayBase, monthBase = minuteLimit, dayLimit, monthLimit

  -- The level of the day above which there may be a crossing to note.
  local dayWarn, marks
  if warnAt and kind > 0 then
    if dayLimit >= 0 then dayWarn = (math.ceil(dayLimit * byte(warnAt) / 100) - 1) * DAY_MS end
    marks = customer and customer.marks
  end

  -- The sum of credits, where the plan is prepaid.
  local balance
  if isPrepaid then
    balance = customer and customer.balance or tonumber(call('HGET', owner or name, 'credited') or 0)
    if customer then customer.balance = balance end
  end

  -- Operations' own windows and the balance, by name; few plans have any.
  local levels, ats, hasNewWindows
  if (operations or isPrepaid) and customer and customer.levels then
    levels, ats = customer.levels, customer.ats
  elseif operations or isPrepaid then
    local readWindows = include('read-windows')
    levels, ats = readWindows(call('HGET', owner or name, 'windows'))
    if customer then customer.levels, customer.ats = levels, ats end
  end

  -- Requests in flight, where the plan limits them.
  local leases, isLeased
  if concurrency and kind > 0 then
    local readLeases = include('read-leases')
    leases = customer and customer.leases or readLeases(call('HGET', owner or name, 'leases'))
    if customer then customer.leases = leases end
  end

  local stored, storedAt, isStruck, countedAt, countedLedger, countedField, excessAt, excessField
  for _ = 1, many do
    local operation, mode, secret
    operation, low, mode, secret, at = unpack('<BBBBc0', requests, at)
    operation = operation * 128 + low
    local now, ledger, thisMonth, cost, code = clock, todaysLedger, today - dayOfMonth, mode % 2
    if mode > 1 then
      if mode % 4 > 1 then
        local monthStart = include('month-start')
        now, at = unpack('<Bc0', requests, at)
        now = tonumber(now)
        thisMonth = monthStart(floor(now / DAY_MS))
        ledger = todaysLedger + floor(now / DAY_MS) - today
      end
      if mode > 3 then
        local high, middle
        high, middle, low, at = unpack('<BBB', requests, at)
        cost = (high * 128 + middle) * 128 + low
      end
    end

    -- Sets `code` if the key is not valid.
    if status > 0 then
      code = status
    elseif kind > 0 and secrets ~= secret then
      -- The key has several secrets or one that expires, or the secret is wrong.
      local _, colon = find(secrets, secret, 1, true)
      local ends = colon and string.match(secrets, '^%d+', colon + 1)
      if not colon then code = UNKNOWN elseif ends and now >= tonumber(ends) then code = EXPIRED end
    end
    if not code then
      if now >= expires then
        code = EXPIRED
      elseif customer and customer.status > 0 then
        code = customer.status
      elseif minuteLimit == NO_LIMIT or dayLimit == NO_LIMIT then
        code = NO_PLAN
      end
    end

    if code then
      answers[answered + 1] = pack(HEAD_FORMAT, code, 0, now, 0, 0, 0)
      answers[answered + 2] = string.rep('\0', STATE_BYTES)
    else
      -- `withGrants()` of grant.ts; and like `settlePast()`, subtracts what grants refilled before they expired.
      local newMinute, newDay = minute, day
      if grants then
        minuteLimit, dayLimit, monthLimit = minuteBase, dayBase, monthBase
        for window, units, untilMs in string.gmatch(grants, '(%l+):(%d+):(%d+)%+') do
          units, untilMs = tonumber(units), tonumber(untilMs)
          if window == 'month' then
            if monthBase >= 0 and now < untilMs then monthLimit = min(monthLimit + units, MAX_LIMIT) end
          elseif window == 'day' then
            if dayBase >= 0 and now < untilMs then
              dayLimit = min(dayLimit + units, MAX_LIMIT)
            elseif dayBase >= 0 and greedy and untilMs > dayAt then
              newDay = max(0, newDay - units * (untilMs - dayAt))
            end
          elseif minuteBase >= 0 and now < untilMs then
            minuteLimit = min(minuteLimit + units, MAX_LIMIT)
          elseif minuteBase >= 0 and greedy and untilMs > minuteAt then
            newMinute = max(0, newMinute - units * (untilMs - minuteAt))
          end
        end
        if dayWarn then dayWarn = (math.ceil(dayLimit * byte(warnAt) / 100) - 1) * DAY_MS end
      end

      -- The operation's own windows on this plan, in threes: name, parts of a token, limit; the balance comes last.
      -- Their levels and times are at the same places of `newLevels` and `newAts`.
      local windows, newLevels, newAts, isSpent
      if operations then windows, cost = operations(ARGV[operation], cost) end
      if isPrepaid then
        windows = windows or {}
        local size = #windows
        windows[size + 1], windows[size + 2], windows[size + 3] = 'balance', 1, balance
      end
      local charge = cost > 0
      local tokens, fits = charge and cost or 1, true

      -- All windows, settled to now.
      local newMinuteAt, newDayAt
      local midnight = now - now % DAY_MS
      newMinute, newMinuteAt = settle(newMinute, minuteAt, greedy and minuteLimit or -1, now, now, now - MINUTE_MS + 1)
      newDay, newDayAt = settle(newDay, dayAt, greedy and dayLimit or -1, now, midnight, midnight)
      local newMonth = monthOf < thisMonth and 0 or month
      if windows then
        newLevels, newAts = {}, {}
        for n = 1, #windows, 3 do
          local window, parts, limit = windows[n], windows[n + 1], windows[n + 2]
          local itsLevel, itsAt = levels[window] or 0, ats[window] or 0
          local rate, start, earliest = greedy and limit or -1, now, now - MINUTE_MS + 1
          if parts == DAY_MS then
            start, earliest = midnight, midnight
          elseif parts == 1 then
            rate, start, earliest = -1, thisMonth * DAY_MS, thisMonth * DAY_MS
          end
          if window == 'balance' then
            start, earliest, isSpent = 0, 0, itsLevel + tokens > limit
          end
          -- A window without requests for a whole period is full, also with greedy refill.
          if parts > 1 and now - itsAt >= parts then itsLevel = 0 end
          itsLevel, itsAt = settle(itsLevel, itsAt, rate, now, start, earliest)
          newLevels[n], newAts[n] = itsLevel, itsAt
          if limit >= 0 and itsLevel + tokens * parts > limit * parts then fits = false end
        end
      end

      -- The decision.
      local newStrikes, newSince, newBanned, newLevel, outcome, isNoted = strikes, since, banned, level
      if now < newBanned then
        code, outcome = BANNED, '|banned'
        if newSince > 0 then newBanned = min(newBanned, now + banLength(newLevel, length, factor, cap)) end
      elseif
        fits
        and (minuteLimit < 0 or newMinute + tokens * MINUTE_MS <= minuteLimit * MINUTE_MS)
        and (dayLimit < 0 or newDay + tokens * DAY_MS <= dayLimit * DAY_MS)
        and (monthLimit < 0 or newMonth + tokens <= monthLimit)
      then
        code, outcome = ADMITTED, '|requests'
        if leases and charge then
          local inFlight = 0
          for _, ends in pairs(leases.ends) do
            if ends > now then inFlight = inFlight + 1 end
          end
          if inFlight >= concurrency then code, outcome = CROWDED, '|limited' end
        end
        if charge and code == ADMITTED then
          newMinute = newMinute + cost * MINUTE_MS
          if newMinute > MAX_LIMIT * MINUTE_MS then newMinute = MAX_LIMIT * MINUTE_MS end
          newDay = newDay + cost * DAY_MS
          if newDay > MAX_LIMIT * DAY_MS then newDay = MAX_LIMIT * DAY_MS end
          newMonth = newMonth + cost
          if newMonth > MAX_LIMIT then newMonth = MAX_LIMIT end
          if windows then
            for n = 1, #windows, 3 do
              local parts = windows[n + 1]
              local ceiling = windows[n] == 'balance' and MAX_BALANCE or MAX_LIMIT * parts
              newLevels[n] = min(newLevels[n] + cost * parts, ceiling)
            end
          end
          local crossesDay = dayWarn and newDay > dayWarn
          local crossesMonth =
            warnAt and monthLimit >= 0 and newMonth >= math.ceil(monthLimit * byte(warnAt) / 100)
          local crossesBalance = warnAt
            and isPrepaid
            and newLevels[#windows - 2] >= math.ceil(balance * byte(warnAt) / 100)
          if crossesDay or crossesMonth or crossesBalance then
            local noteCrossings = include('note-crossings')
            local crossed = {
              crossesDay and { 'day', newDay, DAY_MS, dayLimit, floor(now / DAY_MS) },
              crossesMonth and { 'month', newMonth, 1, monthLimit, thisMonth },
              crossesBalance and { 'balance', newLevels[#windows - 2], 1, balance, 0 },
            }
            notes = notes or {}
            for n = 1, 3 do
              if crossed[n] then
                local window, used, parts, limit, began = spread(crossed[n])
                local before, isAlso = used - cost * parts
                marks, isAlso = noteCrossings(
                  notes, marks, owner or name, warnAt, window, n, before, used, parts, limit, began, now, plan, name
                )
                isNoted = isNoted or isAlso
              end
            end
          end
        end
      else
        code, outcome = LIMITED, '|limited'
        local isStrike = charge
          and not isSpent
          and (minuteLimit < 0 or tokens <= minuteLimit)
          and (dayLimit < 0 or tokens <= dayLimit)
          and (monthLimit < 0 or tokens <= monthLimit)
        if windows then
          for n = 3, #windows, 3 do
            if windows[n] >= 0 and tokens > windows[n] then isStrike = false end
          end
        end
        if isStrike then
          if newStrikes == 0 or now - newSince >= within then newStrikes, newSince = 0, now end
          if newSince > now then newSince = now end
          newStrikes = newStrikes + 1
          if newStrikes >= after then
            newLevel = newLevel > 0 and now - newBanned < BAN_MEMORY_MS and newLevel + 1 or 1
            code, outcome, newStrikes = BAN_STARTED, '|banned', 0
            newBanned = now + banLength(newLevel, length, factor, cap)
            if kind > 0 then
              notes, isNoted = notes or {}, true
              local noted = #notes
              notes[noted + 1], notes[noted + 2] = name, 'tell-ban-' .. string.format('%.0f', newBanned)
              notes[noted + 3] = newLevel .. ' ' .. string.format('%.0f', now) .. ' ' .. plan
              if not EMITS then notes[noted + 3] = notes[noted + 3] .. ' silent' end
            end
          end
        end
      end

      -- During a ban nothing is spent or stored, unless the end of the ban has changed.
      local state = pack(
        STATE_FORMAT, newMinute, newMinuteAt, newDay, newDayAt, newStrikes, newLevel, STATE_MARK, newSince, newBanned,
        newMonth, thisMonth
      )
      if charge and (code ~= BANNED or newBanned ~= banned) then
        if customer then
          isStruck = isStruck or newStrikes ~= strikes or newSince ~= since or newBanned ~= banned or newLevel ~= level
        end
        minute, minuteAt, day, dayAt, month, monthOf = newMinute, newMinuteAt, newDay, newDayAt, newMonth, thisMonth
        strikes, since, banned, level = newStrikes, newSince, newBanned, newLevel
        stored, storedAt = state, now
        if windows then
          -- Drops windows that are over: `closeWindows()` of admission/windows.ts. The last letter of a name is its
          -- period: `e` minute, `y` day, `h` month.
          for n = 1, #windows, 3 do levels[windows[n]], ats[windows[n]] = newLevels[n], newAts[n] end
          for window, itsLevel in pairs(levels) do
            local itsAt, ending = ats[window], string.sub(window, -1)
            local isOver = now - itsAt >= (ending == 'e' and MINUTE_MS or DAY_MS)
            if ending == 'h' then isOver = itsAt < thisMonth * DAY_MS end
            if window == 'balance' then isOver = false end
            if itsLevel == 0 or isOver then levels[window] = nil end
          end
          hasNewWindows = true
        end
      end

      local isLeaseGiven = leases and charge and code == ADMITTED
      if isLeaseGiven then
        for id, ends in pairs(leases.ends) do
          if ends <= now then leases.ends[id] = nil end
        end
        leases.last = (leases.last + 1) % 4294967296
        leases.ends[leases.last], isLeased = now + LEASE_MS, true
      end

      -- For the ledger: consecutive equal requests are one count.
      if charge and kind > 0 then
        local field = plan .. '|' .. ARGV[operation] .. outcome
        if ledger == countedLedger and field == countedField then
          counts[countedAt] = counts[countedAt] + 1
        else
          if ledger ~= countedLedger then excessField = nil end
          countedLedger, countedField, countedAt = ledger, field, countCount + 3
          counts[countCount + 1], counts[countCount + 2], counts[countedAt] = KEYS[ledger], field, 1
          countCount = countedAt
        end
        if cost > 1 and code == ADMITTED then
          field = plan .. '|' .. ARGV[operation] .. '|excess'
          if field == excessField then
            counts[excessAt] = counts[excessAt] + cost - 1
          else
            excessField, excessAt = field, countCount + 3
            counts[countCount + 1], counts[countCount + 2], counts[excessAt] = KEYS[ledger], field, cost - 1
            countCount = excessAt
          end
        end
      end

      local scope = ARGV[operation + 1]
      if kind > 0 and scope ~= '' and not find(summary, scope, scopesAt, true) then
        if byte(summary, scopesAt) ~= 42 then code = code + OUT_OF_SCOPE_FLAG end
      end
      if grants then code, state = code + GRANTS_FLAG, state .. pack('<I2', #grants) .. grants end
      if ownMonth or ownConcurrency then
        code, state = code + OWN_LIMITS_FLAG, state .. pack('<dd', ownMonth or NO_LIMIT, ownConcurrency or 0)
      end
      if isPrepaid then state = state .. pack('<d', balance) end
      if windows then
        for n = 1, #windows, 3 do state = state .. pack('<dd', newLevels[n], newAts[n]) end
      end
      if isLeaseGiven then state = state .. pack('<d', leases.last) end
      if isNoted then code = code + NOTED_FLAG end
      answers[answered + 1] = pack(HEAD_FORMAT, code, place, now, version, minuteBase, dayBase)
      answers[answered + 2] = state
    end
    answered = answered + 2
  end

  if isLeased then
    leased = leased or {}
    leased[owner or name] = leases
  end

  -- The state after the requests. A customer's key has only its own strikes and ban, written if they changed.
  local written, endsAt, windowsText = stored, false, false
  if stored and customer then
    customer.minute, customer.minuteAt, customer.day, customer.dayAt = minute, minuteAt, day, dayAt
    customer.month, customer.monthOf, customer.marks, customer.isChanged = month, monthOf, marks, true
    customer.hasNewWindows = customer.hasNewWindows or hasNewWindows
    written = false
    if isStruck or hasNewSummary then
      customer.keys[name] = { strikes, level, since, banned }
      written = pack(STATE_FORMAT, 0, 0, 0, 0, strikes, level, STATE_MARK, since, banned, 0, 0)
    end
  elseif stored and kind == 0 then
    -- When the state of an address expires, because it equals a fresh one. Unlimited windows need no memory.
    local ends = 0
    if minute > 0 and minuteLimit >= 0 then
      ends = minuteAt + (greedy and minuteLimit > 0 and math.ceil(minute / minuteLimit) or MINUTE_MS)
    end
    if day > 0 and dayLimit >= 0 then
      ends = max(ends, greedy and dayLimit > 0 and dayAt + math.ceil(day / dayLimit) or dayAt - dayAt % DAY_MS + DAY_MS)
    end
    if strikes > 0 then ends = max(ends, since + within) end
    if level > 0 then ends = max(ends, banned + BAN_MEMORY_MS) end
    -- GRACE_MS: the clock may step back this far without reopening a window that was over.
    endsAt = max(ends - storedAt, 0) + GRACE_MS
    written = written .. pack('<d', clock + endsAt)
    if row == SHARED_ROW then groups[name].shared = written end
  elseif hasNewWindows then
    local writeWindows = include('write-windows')
    windowsText = writeWindows(levels, ats)
  end
  if written then
    states[stateCount + 1], states[stateCount + 2] = name, written
    states[stateCount + 3] = row or hasNewSummary and summary
    states[stateCount + 4], states[stateCount + 5] = endsAt, windowsText
    stateCount = stateCount + 5
  end
  k = todaysLedger + firstDay - today + ledgers
end

-- Everything is decided: the rest only writes.
for n = 1, stateCount, 5 do
  if states[n + 4] then call('HSET', states[n], 'windows', states[n + 4]) end
  if states[n + 3] then
    call('HSET', states[n], states[n + 2], states[n + 1])
    if call('PTTL', states[n]) < states[n + 3] then call('PEXPIRE', states[n], states[n + 3]) end
  elseif states[n + 2] then
    call('HSET', states[n], 'state', states[n + 1], 'summary', states[n + 2])
  else
    call('HSET', states[n], 'state', states[n + 1])
  end
end
if customers then
  local writeWindows = include('write-windows')
  for owner, its in pairs(customers) do
    if its.isChanged then
      local state = pack(
        STATE_FORMAT, its.minute, its.minuteAt, its.day, its.dayAt, 0, 0, STATE_MARK, 0, 0, its.month, its.monthOf
      )
      call('HSET', owner, 'state', state)
      if its.hasNewWindows then call('HSET', owner, 'windows', writeWindows(its.levels, its.ats)) end
    end
  end
end
if leased then
  local writeLeases = include('write-leases')
  for subject, leases in pairs(leased) do call('HSET', subject, 'leases', writeLeases(leases)) end
end
if notes then
  local writeNotes = include('write-notes')
  writeNotes(notes)
end
for n = 1, countCount, 3 do
  -- A new field may be the first of its day. 1 is passed as text, because Redis formats numbers slowly.
  local count = counts[n + 2]
  if call('HINCRBY', counts[n], counts[n + 1], count == 1 and '1' or count) == count then
    local enterDay = include('enter-day')
    call('EXPIRE', counts[n], LEDGER_SECONDS)
    enterDay(counts[n])
  end
end
return table.concat(answers)
