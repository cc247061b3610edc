-- KEYS: the key, and where the ban is an event, the key's events. ARGV: end of the ban, ms (0 lifts it), its note or
-- nothing, and the event (outbox/fields.ts). Answers `1` when a ban was in force before, else `0`.
local readState = include('read-state')
local name, untilMs = KEYS[1], tonumber(ARGV[2])
local found = call('HMGET', name, 'secrets', 'state')
local minute, minuteAt, day, dayAt, month, monthOf, _, _, _, banned = readState(found[2])
if found[1] and (found[2] or untilMs > 0) then
  local level = untilMs > 0 and 1 or 0
  local state = pack(STATE_FORMAT, minute, minuteAt, day, dayAt, 0, level, STATE_MARK, 0, untilMs, month, monthOf)
  call('HSET', name, 'state', state, 'ban', untilMs > clock and ARGV[3] or '')
  if KEYS[2] then
    call('HSET', name, ARGV[4], '', 'telling', '1')
    call('HSET', KEYS[2], ARGV[5], ARGV[6])
  end
end
return pack('<d', clock) .. (banned > clock and '1' or '0')
