-- KEYS[1]: the index. ARGV: the banned subject, and the end of the ban, ms; 0 removes it.
local name, untilMs = KEYS[1], tonumber(ARGV[3])
call('ZREMRANGEBYSCORE', name, '-inf', clock)
if untilMs > clock then
  call('ZADD', name, untilMs, ARGV[2])
  if call('PTTL', name) < untilMs - clock then call('PEXPIRE', name, untilMs - clock) end
else
  call('ZREM', name, ARGV[2])
end
