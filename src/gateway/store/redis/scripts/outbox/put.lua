-- KEYS[1]: the events of a subject. ARGV: id and entry. What is there stays: it may have been tried already.
if call('HEXISTS', KEYS[1], ARGV[2]) == 0 then call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
return pack('<d', clock) .. '1'
