-- KEYS[1]: the gateways' reports. ARGV: a gateway's ID. Marks its report as given up; returns `0` if there is none.
local report = call('HGET', KEYS[1], ARGV[2])
if not report then return '0' end
call('HSET', KEYS[1], ARGV[2], (report:gsub('|told|', '|given up|', 1)))
