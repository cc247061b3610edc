-- KEYS: the hash of a key or customer, the entries of its events, and with automatic bans among them, its history.
-- ARGV: for each event its field, ID, entry for the outbox (empty if it has one, or none is sent) and entry for the
-- history (only for automatic bans). An existing entry stays: it may have been tried already.
for n = 2, #ARGV, 4 do
  if call('HDEL', KEYS[1], ARGV[n]) == 1 then
    if ARGV[n + 2] ~= '' and call('HEXISTS', KEYS[2], ARGV[n + 1]) == 0 then
      call('HSET', KEYS[2], ARGV[n + 1], ARGV[n + 2])
    end
    if ARGV[n + 3] ~= '' then call('RPUSH', KEYS[3], ARGV[n + 3]) end
  end
end
local fields = call('HGETALL', KEYS[1])
for n = 1, #fields, 2 do
  if string.sub(fields[n], 1, 5) == 'tell-' then return '1' end
end
call('HDEL', KEYS[1], 'telling')
