-- KEYS: a key, its history, and what was taken from spools on that day. ARGV: name of a ban that began while Redis was
-- unavailable, its history entry, and seconds to remember it. Does nothing if it was taken before, or without the key.
if call('EXISTS', KEYS[1]) == 1 and call('HEXISTS', KEYS[3], ARGV[2]) == 0 then
  call('HSET', KEYS[3], ARGV[2], '1')
  call('EXPIRE', KEYS[3], ARGV[4])
  call('RPUSH', KEYS[2], ARGV[3])
end
