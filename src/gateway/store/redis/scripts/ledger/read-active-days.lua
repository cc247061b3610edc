-- KEYS: keys. ARGV: numbers of chunks. Answers for each key how many days it has entered, in one byte, and these; then
-- of each chunk how many bytes tell which of its days the archive has, in one byte, and these.
local found = { pack('<d', clock) }
for k = 1, #KEYS do
  local days = call('HGET', KEYS[k], 'days') or ''
  found[#found + 1] = pack('<B', #days / 2) .. days
  for n = 2, #ARGV do
    local bits = call('HGET', KEYS[k], 'archived-' .. ARGV[n]) or ''
    found[#found + 1] = pack('<B', #bits) .. bits
  end
end
return table.concat(found)
