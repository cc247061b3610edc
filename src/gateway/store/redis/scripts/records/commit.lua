-- KEYS: a key or customer, its history, and with events, those of the key. ARGV: what must be stored now: the version
-- (0: none), the state and the windows (`*`: any), the number of history entries (empty: any), the most that may be
-- spent of the balance (empty: any); whether the history is replaced; how many entries, withdrawn and new events
-- follow; the end of a manual ban, ms (0 lifts the ban, empty leaves it), and its note; then the entries, the events
-- (withdrawn: field and ID; new: field, ID and entry, outbox/entries.ts), and fields and values of the hash. Returns
-- `1`; or `0` if something else is stored, `2` if more is spent: nothing is changed then.
local readState = include('read-state')
local name, history, events, at = KEYS[1], KEYS[2], KEYS[3], 13
local found = call('HMGET', name, 'version', 'state', 'windows')
local isAsRead = (found[1] or '0') == ARGV[2]
for n = 2, 3 do isAsRead = isAsRead and (ARGV[n + 1] == '*' or ARGV[n + 1] == (found[n] or '')) end
-- A ban may have begun since the history was read.
if not isAsRead or ARGV[5] ~= '' and #call('LRANGE', history, 0, -1) ~= tonumber(ARGV[5]) then
  return '0'
end
if ARGV[6] ~= '' and found[3] then
  local readWindows = include('read-windows')
  if (readWindows(found[3]).balance or 0) > tonumber(ARGV[6]) then return '2' end
end
if ARGV[7] == '1' then call('DEL', history) end
for _ = 1, ARGV[8] do
  call('RPUSH', history, ARGV[at])
  at = at + 1
end
for _ = 1, ARGV[9] do
  call('HDEL', name, ARGV[at])
  call('HDEL', events, ARGV[at + 1])
  at = at + 2
end
for _ = 1, ARGV[10] do
  call('HSET', name, ARGV[at], '', 'telling', '1')
  call('HSET', events, ARGV[at + 1], ARGV[at + 2])
  at = at + 3
end
if ARGV[11] ~= '' then
  local minute, minuteAt, day, dayAt, month, monthOf = readState(found[2])
  local untilMs = tonumber(ARGV[11])
  local level = untilMs > 0 and 1 or 0
  local state = pack(STATE_FORMAT, minute, minuteAt, day, dayAt, 0, level, STATE_MARK, 0, untilMs, month, monthOf)
  call('HSET', name, 'state', state, 'ban', ARGV[12])
end
if ARGV[at] then call('HSET', name, spread(ARGV, at)) end
