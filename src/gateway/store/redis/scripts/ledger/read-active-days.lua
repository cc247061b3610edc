-- KEYS: keys. Answers for each how many days it has entered, in one byte, and these.
local found = { pack('<d', clock) }
for k = 1, #KEYS do
  local days = call('HGET', KEYS[k], 'days') or ''
  found[#found + 1] = pack('<B', #days / 2) .. days
end
return table.concat(found)
