#!lua
-- The beginning of every script.
--
-- `#!lua` without flags lets Redis (7.0 or newer) refuse the whole script up front if it could not write: out of
-- memory, replica, failing disk. So there is never half a decision.
--
-- ARGV[1] is the store time in ms until which the call may take effect. A later call, such as one that waited in the
-- socket of a stopped Redis, does nothing and returns only the clock: its caller has given up. Every other response is
-- the clock (a double) followed by at least one byte.
local call, pack, unpack, spread = redis.call, struct.pack, struct.unpack, unpack
local floor, max, min = math.floor, math.max, math.min
local time = call('TIME')
local clock = time[1] * 1000 + floor(time[2] / 1000)
if clock > tonumber(ARGV[1]) then return pack('<d', clock) end
