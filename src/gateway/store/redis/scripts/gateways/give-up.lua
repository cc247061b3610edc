-- KEYS[1]: the gateways' reports. ARGV: an ID. Returns 0 if there is no report with it.
local report = call('HGET', KEYS[1], ARGV[2])
if not report then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], ARGV[2], (report:gsub('|told|', '|given up|', 1)))
return pack('<d', clock) .. '1'
