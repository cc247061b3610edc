-- Stores a gateway's report of the first day for which it may still deliver counts: at most the store's day SETTLE_MS
-- ago, because exchanges of a later day may still run. KEYS[1]: the gateways' reports. ARGV: ID, first open day, host
-- and what it runs, ms to keep.
local settled = floor((clock - SETTLE_MS) / DAY_MS)
local open = tonumber(ARGV[3])
if open > settled then open = settled end
call('HSET', KEYS[1], ARGV[2], string.format('%.0f|%.0f|told|', open, clock) .. ARGV[4])
call('PEXPIRE', KEYS[1], ARGV[5])
