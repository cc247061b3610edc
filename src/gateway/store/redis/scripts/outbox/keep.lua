-- KEYS[1]: the events of a subject. ARGV: id and entry. Only what is there: another deliverer may have been quicker.
if call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], ARGV[2], ARGV[3])
return pack('<d', clock) .. '1'
