-- KEYS: a key or a customer, its history, and where there are events, those of the key. ARGV: version to be replaced
-- (0: absent), whether history is replaced too, how many audit entries, withdrawn and new events there are, of a ban by
-- hand its end, ms (0 lifts, nothing leaves it as it is), and its note; then these entries and events one after the
-- other (of events field, id, and entry: outbox/fields.ts), then fields and values of the record.
-- Answers `1`, or `0` when the stored version is another.
local readState = include('read-state')
local name, history, events, at = KEYS[1], KEYS[2], KEYS[3], 9
if (call('HGET', name, 'version') or '0') ~= ARGV[2] then return pack('<d', clock) .. '0' end
if ARGV[3] == '1' then
  -- A ban may have begun since its history was read: that has one entry less than is written.
  if #call('LRANGE', history, 0, -1) ~= ARGV[4] - 1 then return pack('<d', clock) .. '0' end
  call('DEL', history)
end
for _ = 1, ARGV[4] do
  call('RPUSH', history, ARGV[at])
  at = at + 1
end
for _ = 1, ARGV[5] do
  call('HDEL', name, ARGV[at])
  call('HDEL', events, ARGV[at + 1])
  at = at + 2
end
for _ = 1, ARGV[6] do
  call('HSET', name, ARGV[at], '', 'telling', '1')
  call('HSET', events, ARGV[at + 1], ARGV[at + 2])
  at = at + 3
end
if ARGV[7] ~= '' then
  local minute, minuteAt, day, dayAt, month, monthOf = readState(call('HGET', name, 'state'))
  local untilMs = tonumber(ARGV[7])
  local level = untilMs > 0 and 1 or 0
  local state = pack(STATE_FORMAT, minute, minuteAt, day, dayAt, 0, level, STATE_MARK, 0, untilMs, month, monthOf)
  call('HSET', name, 'state', state, 'ban', ARGV[8])
end
call('HSET', name, spread(ARGV, at))
return pack('<d', clock) .. '1'
