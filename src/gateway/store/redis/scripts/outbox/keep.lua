-- KEYS[1]: the events of a subject. ARGV: ID and entry. Replaces only an existing entry: another deliverer may have
-- been faster.
if call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return '0' end
call('HSET', KEYS[1], ARGV[2], ARGV[3])
