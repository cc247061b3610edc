-- Keeps leases in force (admission/leases.ts). KEYS: who pays: a key or a customer. ARGV from 2 on: their ids.
local readLeases = include('read-leases')
local writeLeases = include('write-leases')
if call('EXISTS', KEYS[1]) == 1 then
  local leases = readLeases(call('HGET', KEYS[1], 'leases'))
  for n = 2, #ARGV do leases.ends[tonumber(ARGV[n])] = clock + LEASE_MS end
  call('HSET', KEYS[1], 'leases', writeLeases(leases))
end
