-- KEYS[1]: the notes of one name. ARGV: a gateway's ID, its note, ms to keep.
call('HSET', KEYS[1], ARGV[2], ARGV[3])
call('PEXPIRE', KEYS[1], ARGV[4])
