-- KEYS: keys. ARGV: numbers of chunks. Returns for each key the number of its days, in one byte, and these days; then
-- for each chunk the number of bytes that say which of its days the archive has, in one byte, and these bytes.
local found = {}
for k = 1, #KEYS do
  local days = call('HGET', KEYS[k], 'days') or ''
  found[#found + 1] = pack('<B', #days / 2) .. days
  for n = 2, #ARGV do
    local bits = call('HGET', KEYS[k], 'archived-' .. ARGV[n]) or ''
    found[#found + 1] = pack('<B', #bits) .. bits
  end
end
return table.concat(found)
