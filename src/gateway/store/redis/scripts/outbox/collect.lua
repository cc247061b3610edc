-- KEYS[1]: who looks. ARGV: for how long, ms, and whether to look anew. Answers `1` when it is ours
-- to look, and `done` when that was done lately.
local there = call('GET', KEYS[1])
if there and (there ~= 'done' or ARGV[3] ~= '1') then return pack('<d', clock) .. (there == 'done' and there or '0') end
call('SET', KEYS[1], '1', 'PX', ARGV[2])
return pack('<d', clock) .. '1'
