-- KEYS[1]: the collector's lock. ARGV: how long to hold it, ms, and whether to collect again. Returns `1` if the
-- caller may collect, and `done` if that was done recently.
local there = call('GET', KEYS[1])
if there and (there ~= 'done' or ARGV[3] ~= '1') then return pack('<d', clock) .. (there == 'done' and there or '0') end
call('SET', KEYS[1], '1', 'PX', ARGV[2])
return pack('<d', clock) .. '1'
