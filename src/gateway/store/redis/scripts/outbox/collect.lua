-- KEYS[1]: the collector's lock. ARGV: how long to hold it, ms, and `1` to collect even if that was done recently.
-- Returns `1` if the caller may collect, `done` if that was done recently, `0` while one runs.
local there = call('GET', KEYS[1])
if there and (there ~= 'done' or ARGV[3] ~= '1') then return (there == 'done' and there or '0') end
call('SET', KEYS[1], '1', 'PX', ARGV[2])
