-- KEYS: a key, its history, and what was taken of spools on that day. ARGV: name of a ban that began while Redis was
-- unavailable, its entry for the history, and seconds the ledger is kept. Does nothing when it was taken before.
if call('EXISTS', KEYS[1]) == 1 and call('HEXISTS', KEYS[3], ARGV[2]) == 0 then
  call('HSET', KEYS[3], ARGV[2], '1')
  call('EXPIRE', KEYS[3], ARGV[4])
  call('RPUSH', KEYS[2], ARGV[3])
end
return pack('<d', clock) .. '1'
