-- Returns whether the archive has the counts of a key and day (ledger/archived-days.ts): new ones are on top of them.
return function(key, day)
  local bits, place = call('HGET', key, 'archived-' .. floor(day / ARCHIVED_CHUNK)), day % ARCHIVED_CHUNK
  local each = bits and string.byte(bits, floor(place / 8) + 1)
  return each and floor(each / 2 ^ (place % 8)) % 2 == 1
end
