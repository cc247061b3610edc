-- KEYS[1]: the group of an address. ARGV: the address. Ends its ban and resets its strikes, also for addresses that
-- share its row. Returns `1` if a ban was in force, otherwise `0`.
local addressRow = include('address-row')
local readState = include('read-state')
local row, raw = addressRow({}, KEYS[1], ARGV[2])
local minute, minuteAt, day, dayAt, month, monthOf, _, _, _, banned = readState(raw)
if banned <= clock then return '0' end
local state = pack(STATE_FORMAT, minute, minuteAt, day, dayAt, 0, 0, STATE_MARK, 0, 0, month, monthOf)
call('HSET', KEYS[1], row, state .. string.sub(raw, STATE_BYTES + 1))
