-- KEYS[1]: the gateways' reports. ARGV: id. Answers 0 when there is none of that id.
local report = call('HGET', KEYS[1], ARGV[2])
if not report then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], ARGV[2], (report:gsub('|told|', '|given up|', 1)))
return pack('<d', clock) .. '1'
