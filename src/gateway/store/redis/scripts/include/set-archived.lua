-- Records in a key whether the archive has the counts of a ledger's day (ledger/archived-days.ts).
return function(key, ledger, isArchived)
  local day = tonumber(string.match(ledger, '%d+$'))
  local field, place = 'archived-' .. floor(day / ARCHIVED_CHUNK), day % ARCHIVED_CHUNK
  local at, bit = floor(place / 8) + 1, 2 ^ (place % 8)
  local bits = call('HGET', key, field) or ''
  bits = bits .. string.rep('\0', at - #bits)
  local each = string.byte(bits, at)
  if (floor(each / bit) % 2 == 1) == isArchived then return end
  each = each + (isArchived and bit or -bit)
  call('HSET', key, field, string.sub(bits, 1, at - 1) .. string.char(each) .. string.sub(bits, at + 1))
end
