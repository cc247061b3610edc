-- KEYS: a key or customer, its history, and ledgers of a key. Returns in one step the hash, the history and each ledger
-- (empty if it does not exist): for each the number of texts, then the texts, each after its length.
local found = {}
local function add(texts)
  found[#found + 1] = pack('<I4', #texts)
  for n = 1, #texts do found[#found + 1] = pack('<I4', #texts[n]) .. texts[n] end
end
add(call('HGETALL', KEYS[1]))
add(call('LRANGE', KEYS[2], 0, -1))
for k = 3, #KEYS do add(call('HGETALL', KEYS[k])) end
return table.concat(found)
