-- KEYS: ledgers, each followed by its key. ARGV: `1` if everything in them is on top of the archive. Marks these days
-- as archived; without `1` only those that are not whole here.
local setArchived = include('set-archived')
for k = 1, #KEYS, 2 do
  local isHere = call('EXISTS', KEYS[k]) == 1
  if isHere and ARGV[2] == '1' then
    call('HSET', KEYS[k], 'on top', '1')
    call('PERSIST', KEYS[k])
  end
  if call('HEXISTS', KEYS[k + 1], 'version') == 1 and (not isHere or call('HEXISTS', KEYS[k], 'on top') == 1) then
    setArchived(KEYS[k + 1], KEYS[k], true)
  end
end
