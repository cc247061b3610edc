-- A gateway's report of the days of which it may still bring counts: a day of the store's clock is never reported to
-- be done before its last exchanges are. KEYS[1]: the gateways' reports. ARGV: id, its first open day, name of its
-- host and what it runs by, ms that it is kept.
local settled = floor((clock - SETTLE_MS) / DAY_MS)
local open = tonumber(ARGV[3])
if open > settled then open = settled end
call('HSET', KEYS[1], ARGV[2], string.format('%.0f|%.0f|told|', open, clock) .. ARGV[4])
call('PEXPIRE', KEYS[1], ARGV[5])
return pack('<d', clock) .. '1'
