-- KEYS: ledgers, each followed by its key (one ledger per call in a Cluster). ARGV: the sum of each ledger's counts
-- when it was archived. Counts only grow, so an equal sum means the same ledger: it is removed, and its key records
-- that the archive has it. Ledgers on top of the archive stay. Returns the places of those that have grown.
local setArchived = include('set-archived')
local more = {}
for k = 1, #KEYS, 2 do
  local ledger, sum, isOnTop, place = call('HGETALL', KEYS[k]), 0, false, (k - 1) / 2
  for n = 1, #ledger, 2 do
    if ledger[n] == 'on top' then isOnTop = true else sum = sum + ledger[n + 1] end
  end
  if #ledger > 0 or call('HEXISTS', KEYS[k + 1], 'version') == 1 then
    if isOnTop or #ledger == 0 or sum == tonumber(ARGV[place + 2]) then
      if not isOnTop then call('DEL', KEYS[k]) end
      setArchived(KEYS[k + 1], KEYS[k], true)
    else
      more[#more + 1] = place
    end
  end
end
return ' ' .. table.concat(more, ' ')
